"""`nonsmooth completion`: what a shell needs to complete our command lines."""

from __future__ import annotations

import argparse
from typing import Any

from nonsmooth.app.command import DONE

SHORT = "print what a shell needs to complete command lines"
HELP = """\
Print a script with which a shell completes commands, options, built-in systems and
files.

examples:
  eval "$(nonsmooth completion bash)"        in ~/.bashrc
  eval "$(nonsmooth completion zsh)"         in ~/.zshrc, after compinit
  nonsmooth completion fish > ~/.config/fish/completions/nonsmooth.fish
"""

_BASH = """\
_nonsmooth() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="@COMMANDS@"
    else
        case "${COMP_WORDS[1]} $before" in
@CHOICES@
            *)
                case "${COMP_WORDS[1]}" in
@OPTIONS@
                esac
                case "$word" in -*) ;; *) words="$words @SYSTEMS@" ;; esac
                ;;
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -o bashdefault -F _nonsmooth nonsmooth
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    shells = ("bash", "zsh", "fish")
    told = ", ".join(shells)
    parser.add_argument("shell", choices=shells, metavar="SHELL", help=told)


def command(args: argparse.Namespace) -> int:
    """Print the script."""
    # The list of commands holds this one.
    from nonsmooth import gallery
    from nonsmooth.app.cli import commands

    parsers, systems = commands(), gallery.names()
    if args.shell == "fish":
        print(_fish(parsers, systems))
    else:
        start = "autoload -Uz bashcompinit && bashcompinit\n"
        print((start if args.shell == "zsh" else "") + _bash(parsers, systems), end="")
    return DONE


def _options(parser: argparse.ArgumentParser) -> list[tuple[str, Any]]:
    """Return the options of a command, with the choices of each or None."""
    # There is no public way to ask a parser.
    actions: list[Any] = parser._actions  # pyright: ignore[reportPrivateUsage]
    return [(o, a.choices) for a in actions for o in a.option_strings]


def _bash(parsers: dict[str, argparse.ArgumentParser], systems: tuple[str, ...]) -> str:
    options: list[str] = []
    choices: list[str] = []
    for name, parser in parsers.items():
        words = " ".join(option for option, _ in _options(parser))
        options.append(f'                    {name}) words="{words}" ;;')
        for option, valid in _options(parser):
            if valid:
                words = " ".join(map(str, valid))
                choices.append(f'            "{name} {option}") words="{words}" ;;')
    text = _BASH.replace("@COMMANDS@", " ".join(parsers))
    text = text.replace("@OPTIONS@", "\n".join(options))
    text = text.replace("@CHOICES@", "\n".join(choices))
    return text.replace("@SYSTEMS@", " ".join(systems))


def _fish(parsers: dict[str, argparse.ArgumentParser], systems: tuple[str, ...]) -> str:
    lines = [f"complete -c nonsmooth -n __fish_use_subcommand -a '{' '.join(parsers)}'"]
    for name, parser in parsers.items():
        head = f"complete -c nonsmooth -n '__fish_seen_subcommand_from {name}'"
        lines.append(f"{head} -a '{' '.join(systems)}'")
        for option, valid in _options(parser):
            if option.startswith("--"):
                words = f" -xa '{' '.join(map(str, valid))}'" if valid else ""
                lines.append(f"{head} -l {option[2:]}{words}")
    return "\n".join(lines)
