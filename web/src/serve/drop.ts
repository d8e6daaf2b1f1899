/** Files that are dropped on the page. */

export function takeDrops(
  root: HTMLElement,
  take: (files: FileList | null) => void,
): void {
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files");
  root.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    root.classList.add("sv-dropping");
  });
  root.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) root.classList.remove("sv-dropping");
  });
  root.addEventListener("drop", (event) => {
    root.classList.remove("sv-dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    take(event.dataTransfer?.files ?? null);
  });
}
