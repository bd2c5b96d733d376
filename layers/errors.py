"""Why something could not be packed. Raised by the builders in this folder."""


class PackagingError(RuntimeError):
    """Nothing usable was packed; the message says why."""


class BytecodeError(PackagingError):
    """A packed source does not compile; the message is the compiler's."""


class DependenciesError(PackagingError):
    """The wheels could not be installed."""


class TooLarge(PackagingError):
    """A layer, or what a function carries altogether, is larger than it may be."""


class TaskRootError(PackagingError):
    """A function's folder cannot be shipped."""
