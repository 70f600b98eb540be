"""Builds the native kernels, where there is a compiler: a plain C library that ctypes loads, for any Python."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


class build_library(build_ext):  # noqa: N801
    """The same file name for every version of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        return fullname.replace(".", "/") + ".so"


class tagged_wheel(bdist_wheel):  # noqa: N801
    """The library belongs to a platform, but to no version of Python; without it the wheel is for any platform."""

    def get_tag(self) -> tuple[str, str, str]:
        built = any(Path(self.get_finalized_command("build_ext").build_lib).glob("gareader/kernels/*.so"))
        return "py3", "none", super().get_tag()[2] if built else "any"


kernel = Extension(
    "gareader.kernels.libgru",
    sources=[f"native/{name}.c" for name in ("attention", "gru", "kernels", "memory", "pool")],
    depends=sorted(str(header) for header in Path("native").glob("*.h")),
    extra_compile_args=["-std=gnu11", "-O3", "-g0", "-ffp-contract=fast", "-fvisibility=hidden", "-Wno-psabi"],
    extra_link_args=["-pthread", *(["-ldl"] if sys.platform == "linux" else [])],
    optional=True,  # without a compiler the installation goes on, and PyTorch alone does the work
)

setup(ext_modules=[kernel], cmdclass={"build_ext": build_library, "bdist_wheel": tagged_wheel})
