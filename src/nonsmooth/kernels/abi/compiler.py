"""From kernels to object code, by Numba and LLVM; imported only to compile.

Numba by itself compiles, optimises and emits every callee as a function of its own,
and again inside each caller. Here a kernel is typed and lowered once, as a part; a far
kernel links the parts it is made of, optimises them together and emits one object file,
position-independent, that defines its symbol and nothing else.
"""

import ctypes
import functools
import hashlib
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba import types
from numba.core import compiler, funcdesc, registry
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.typing.templates import AbstractTemplate
from numba.extending import typeof_impl

from nonsmooth.kernels.abi import parts, pointers
from nonsmooth.kernels.abi.digest import of_function
from nonsmooth.kernels.abi.faults import FAULT
from nonsmooth.kernels.abi.linking import Far, Intrinsic, Kernel, far_kernels
from nonsmooth.kernels.abi.pointers import slot_type

_target: Any = registry.cpu_target
# Functions of Numba's runtime, and the same in the library of C.
ALIASES = {"numba_ldexp": "ldexp", "numba_frexp": "frexp"}


class Part(CPUCodeLibrary):
    """The code of one kernel, to be linked into far ones."""

    key, is_ours = "", True

    def add_linking_library(self, library):
        """Note a callee; it is linked, and optimised, in the end."""
        self._linking_libraries.append(library)

    def _finalize_specific(self):
        """Do nothing: it is never executed by itself."""

    def _optimize_functions(self, ll_module):
        """Leave that to the far kernel: done here as well it takes a tenth more."""
        # Of a user's law that would leave what it may seem to need of this process.
        if self.is_ours:
            ll_module.data_layout = self._codegen._data_layout
        else:
            super()._optimize_functions(ll_module)

    def modules(self, seen):
        """Yield the modules of this part and of its callees, each once."""
        if self in seen:
            return
        seen.add(self)
        yield self._final_module
        for library in self._linking_libraries:
            if isinstance(library, (Part, _Read)):
                yield from library.modules(seen)
            elif library not in seen:
                seen.add(library)
                yield library._get_module_for_linking()

    def kept(self, symbol, signature):
        """Return what another process needs of it."""
        ours = [item for item in self._linking_libraries if hasattr(item, "key")]
        helpers = [item for item in self._linking_libraries if item not in ours]
        return parts.Kept(
            symbol=symbol,
            signature=signature,
            code=self._final_module.as_bitcode(),
            callees=[item.key for item in ours],
            helpers=[item._get_module_for_linking().as_bitcode() for item in helpers],
        )


class _Read:
    """A part that another process has lowered."""

    def __init__(self, key, kept):
        self.key, self._kept = key, kept

    def _ensure_finalized(self):
        """Do nothing, as for a part."""

    @functools.cached_property
    def _module(self):
        return llvm.parse_bitcode(self._kept.code)

    def modules(self, seen):
        """Yield its module and those of its callees, each once."""
        if self in seen:
            return
        seen.add(self)
        yield self._module
        for key in self._kept.callees:
            yield from _part(key).modules(seen)
        for code in self._kept.helpers:
            if code not in seen:
                seen.add(code)
                yield llvm.parse_bitcode(code)


# All parts that are known here, by key.
_parts: dict[str, Part | _Read] = {}


def _part(key):
    """Return a part, which this process or another one has lowered."""
    if key not in _parts and (kept := parts.get(key)):
        _parts[key] = _Read(key, kept)
    return _parts.get(key)


def _flags():
    flags = compiler.Flags()
    flags.error_model = "numpy"
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.no_compile = True
    return flags


# Passes for what kernels do not use: closures, `with`, arrays, overloads to be inlined,
# literals. They find nothing to do, and take a fifth of the time; the code is the same.
SPARED = {
    "DeadBranchPrune",
    "DumpParforDiagnostics",
    "FindLiterallyCalls",
    "InlineClosureLikes",
    "InlineInlinables",
    "InlineOverloads",
    "LiteralPropagationSubPipelinePass",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "NoPythonSupportedFeatureValidation",
    "NopythonRewrites",
    "RewriteDynamicRaises",
    "RewriteSemanticConstants",
    "WithLifting",
}


class _Passes(PassManager):
    """Passes that are not each followed by an analysis of the whole function."""

    _ENFORCING = False


class _ForKernels(compiler.CompilerBase):
    """Numba's compiler with the passes that kernels need."""

    def _compile_bytecode(self):
        # Names that do not count what was compiled before: the same in all processes.
        self.state.func_id.unique_id = None
        self.state.func_id.unique_name = self.state.func_id.func_qualname
        return super()._compile_bytecode()

    def define_pipelines(self):
        """Return the list of passes."""
        every = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = _Passes("kernels")
        passes.passes = [item for item in every.passes if _name(item) not in SPARED]
        passes.finalize()
        return [passes]


def _name(item):
    return item[0].__name__


def _is_ours(function):
    return function.__module__.startswith("nonsmooth.")


@global_compiler_lock
def _lower(function, args, result=None):
    """Return a function typed and lowered, as a part."""
    # A user's law may be written in all that Numba knows.
    is_ours = _is_ours(function)
    library = Part(_target.target_context.codegen(), function.__qualname__)
    library.is_ours = is_ours
    return compiler.compile_extra(
        _target.typing_context,
        _target.target_context,
        function,
        args,
        result,
        _flags(),
        {},
        library=library,
        pipeline_class=_ForKernels if is_ours else compiler.Compiler,
    )


# ---- what names in kernels stand for -------------------------------------------


# For each kernel: types of its arguments, and the signature that follows.
_types: dict[Kernel, dict] = {}


def counts():
    """Return for how many sets of types each kernel was compiled here."""
    return {
        f"{kernel.py_func.__module__}.{kernel.py_func.__name__}": len(found)
        for kernel, found in _types.items()
    }


def _template(kernel):
    """Return how a kernel is typed: lowered at its first call, for one set of types."""
    found = _types.setdefault(kernel, {})

    def generic(self, args, kws):
        plain = tuple(types.unliteral(kind) for kind in args)
        if plain not in found:
            found[plain] = _known(kernel, plain) or _lowered(kernel, plain)
        return found[plain]

    slots = {"key": kernel, "generic": generic}
    return type(kernel.py_func.__name__, (AbstractTemplate,), slots)


def _key(kernel, kinds):
    """Return the name of a part: what it is made of, and for which types."""
    text = f"{kernel.__module__}.{kernel.__qualname__} {kinds}"
    made_of = of_function(kernel.py_func)
    return hashlib.sha256(f"{made_of} {text}".encode()).hexdigest()


def _known(kernel, kinds):
    """Return the signature of a kernel that another process has lowered, or None."""
    key = _key(kernel, kinds) if parts.is_shared() else ""
    kept = parts.get(key) if key else None
    if kept is None:
        return None
    _parts[key] = _Read(key, kept)
    desc = funcdesc.FunctionDescriptor(
        native=True,
        modname=kernel.__module__,
        qualname=kernel.__qualname__,
        unique_name=kernel.__qualname__,
        doc=None,
        typemap=None,
        calltypes=None,
        args=(),
        kws=(),
        restype=kept.signature.return_type,
        argtypes=kinds,
    )
    desc.mangled_name = kept.symbol
    _target.target_context.insert_user_function(kernel, desc, [_parts[key]])
    return kept.signature


def _lowered(kernel, kinds):
    """Lower a kernel, let others have it, and return its signature."""
    result = _lower(kernel.py_func, kinds)
    context = _target.target_context
    context.insert_user_function(kernel, result.fndesc, [result.library])
    if parts.is_shared() and _is_ours(kernel.py_func):
        result.library.key = key = _key(kernel, kinds)
        _parts[key] = result.library
        symbol = result.fndesc.llvm_func_name
        parts.put(key, result.library.kept(symbol, result.signature))
    return result.signature


def _once(make):
    """Keep what was made for each object, as an attribute of it."""

    def typeof(value, _context):
        if not hasattr(value, "_numba_type"):
            value._numba_type = make(value)
        return value._numba_type

    return typeof


@typeof_impl.register(Kernel)
@_once
def _type_of_kernel(value):
    return types.Function(_template(value))


@typeof_impl.register(Far)
@_once
def _type_of_far(value):
    return types.ExternalFunction(value.symbol, signature(value))


@typeof_impl.register(Intrinsic)
@_once
def _type_of_intrinsic(value):
    real = pointers.INTRINSICS[value.name]
    return _target.typing_context.resolve_value_type(real)


def signature(far):
    """Return the signature of a far kernel."""
    result = types.void if far.returns is None else slot_type(far.returns)
    return result(*(slot_type(kind) for kind in far.arguments))


def compile_here(function):
    """Compile a function that calls kernels, for this process."""
    # Finding one imports others.
    for far in list(far_kernels.values()):
        llvm.add_symbol(far.symbol, far.address)
    return numba.njit(error_model="numpy", nogil=True)(function)


# ---- object code ---------------------------------------------------------------


@global_compiler_lock
def compile_object(far) -> bytes:
    """Return the object code of a far kernel of ours."""
    module = _linked(far)
    _optimise(module, far.symbol)
    if needed := _needed(module, ("NRT_", "numba_", "Py", "_ZN")):
        raise TypeError(f"{far.symbol} needs {', '.join(needed)} at run time")
    return _machine().emit_object(module)


@global_compiler_lock
def compile_alone(far) -> tuple[bytes, bool]:
    """Return the object code of a user's function, and whether it can be kept.

    Not if it needs this process to run: Numba's runtime, Python, data by address.
    """
    module = _linked(far)
    # Of data by address the optimiser leaves nothing but a number.
    has_address = any(
        variable.is_declaration or variable.name.startswith("numba.dynamic")
        for variable in module.global_variables
    )
    _optimise(module, far.symbol)
    if _needed(module, ("numba_gil_ensure",)):
        raise TypeError("it needs Python while it runs, as print does")
    of_c = ctypes.CDLL(None)
    needed = _needed(module, ("NRT_", "numba_", "Py", "_Py"))
    is_alone = not needed and all(hasattr(of_c, name) for name in _needed(module))
    return _machine().emit_object(module), is_alone and not has_address


def _linked(far):
    """Return a module with a far kernel, its callees, and its symbol."""
    # What Numba was taught since the last time, here for all parts.
    _target.typing_context.refresh()
    _target.target_context.refresh()
    sig = signature(far)
    result = _lower(far.py_func, sig.args, sig.return_type)
    codegen = _target.target_context.codegen()
    module = llvm.parse_assembly(str(codegen._create_empty_module(far.symbol)))
    for part in result.library.modules(set()):
        module.link_in(part, preserve=True)
    module.link_in(llvm.parse_assembly(str(_wrapper(far, result.fndesc))))
    return module


def _optimise(module, symbol):
    """Optimise a module that exports one symbol."""
    codegen = _target.target_context.codegen()
    for function in module.functions:
        if function.is_declaration:
            function.name = ALIASES.get(function.name, function.name)
        elif function.name != symbol:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and variable.name != symbol:
            variable.linkage = "internal"
    module.data_layout = codegen._data_layout
    passes, builder = _module_passes(symbol)
    passes.run(module, builder)
    module.verify()


# What is called at events and from Python, not in each step: loops there are short, and
# run seldom. Making them fast would take a tenth of the whole build.
_SELDOM = tuple(
    f"nonsmooth.kernels.{name}." for name in ("complementarity", "entry", "friction")
)
# But friction of joints that slide is a part of each right-hand side.
_IN_STEPS = tuple(
    f"nonsmooth.kernels.friction.{name}."
    for name in ("chains", "pins", "rubbing", "slides")
)


def _module_passes(symbol):
    """Return the passes for a module that exports a symbol, and their builder."""
    codegen = _target.target_context.codegen()
    if symbol.startswith(_IN_STEPS) or not symbol.startswith(_SELDOM):
        return codegen._module_pass_manager(slp_vectorize=True)
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.slp_vectorization = True
    tuning.loop_vectorization = tuning.loop_unrolling = False
    builder = llvm.create_pass_builder(codegen._tm, tuning)
    return builder.getModulePassManager(), builder


def _needed(module, begins=("",)):
    """Return the functions that a module calls and has not, by how names begin."""
    names = [f.name for f in module.functions if f.is_declaration]
    return [n for n in names if n.startswith(begins) and not n.startswith("llvm.")]


def _machine():
    """Return the target: this processor, code that can stand anywhere."""
    codegen = _target.target_context.codegen()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=codegen._get_host_cpu_name(),
        features=codegen._tm_features,
        opt=3,
        reloc="pic",
        codemodel="default",
    )


def _wrapper(far, fndesc):
    """Return a module with the function of C that calls the compiled one.

    Kernels raise nothing. What a user's law raises is lost, but for a value that is not
    a number: what it returns, or the first that it writes.
    """
    context = _target.target_context
    module = ir.Module(name="wrapper")
    native = context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes)
    callee = ir.Function(module, native, fndesc.llvm_func_name)
    kinds = [context.get_argument_type(kind) for kind in fndesc.argtypes]
    is_void = far.returns is None
    returns = ir.VoidType() if is_void else context.get_argument_type(fndesc.restype)
    function = ir.Function(module, ir.FunctionType(returns, kinds), far.symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    status, out = context.call_conv.call_function(
        builder, callee, fndesc.restype, fndesc.argtypes, function.args
    )
    if not far.is_ours:
        with builder.if_then(status.is_error, likely=False):
            _tell_error(builder, function.args[-1], is_void)
    if is_void:
        builder.ret_void()
    else:
        builder.ret(context.get_value_as_argument(builder, fndesc.restype, out))
    return module


def _tell_error(builder, last, is_void):
    no_number = ir.Constant(ir.DoubleType(), float("nan"))
    if not is_void:
        builder.ret(no_number)
        return
    is_checked = isinstance(last.type, ir.LiteralStructType)
    builder.store(no_number, builder.extract_value(last, 0) if is_checked else last)


def fault_object() -> bytes:
    """Return the object code of the cells that the checked build notes faults in."""
    module = ir.Module(name="fault")
    cells = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(64), 3), FAULT)
    cells.initializer = ir.Constant(cells.value_type, [0, 0, 0])
    return _machine().emit_object(llvm.parse_assembly(str(module)))
