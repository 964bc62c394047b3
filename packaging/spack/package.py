# Kasen for Spack: put this folder into a repository as packages/kasen, then `spack install kasen`.
import os

from spack.package import *


class Kasen(MesonPackage):
    """Array programs, measured before they run: a small array program becomes a distributed one over threads and MPI. Its
    reads, writes, memory and messages are predicted to the byte, and its kernels are generated for the processor."""

    # Kasen has no public address yet. `meson dist -C build --no-tests` makes its archive from a checkout; put that into the
    # folder from which you call `spack install --no-checksum kasen`. `spack dev-build kasen@0.2.0` builds a checkout.
    manual_download = True
    license("Apache-2.0")
    version("0.2.0")

    variant("blas", default="blis", values=("blis", "openblas"), multi=False, description="The library for dense products")
    variant("bench", default=False, description="Build bench/, the comparison with SuiteSparse:GraphBLAS")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0.1:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build")
    depends_on("mpfr", type="build")
    depends_on("googletest+gmock", type="build")
    depends_on("suite-sparse@7: +graphblas", type="build")
    depends_on("benchmark", type="build", when="+bench")

    depends_on("fmt@9:")
    depends_on("boost@1.74: +program_options")
    depends_on("yaml-cpp@0.7:")
    depends_on("nlohmann-json@3.11:")
    depends_on("z3@4.8:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    depends_on("xz@5:")
    depends_on("zstd@1.4:")
    depends_on("metis@5:")
    depends_on("hdf5@1.10: ~mpi")
    depends_on("hwloc@2.5:")
    depends_on("libseccomp@2.5:")
    depends_on("mpi")
    depends_on("llvm@16:19 +llvm_dylib")
    depends_on("blis +cblas threads=openmp", when="blas=blis")
    depends_on("openblas threads=openmp", when="blas=openblas")

    requires("%gcc@12:", msg="C++20 with std::from_chars of double, and GCC's extensions")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/kasen-{version}.tar.xz"

    def meson_args(self):
        return [f"-Dblas={self.spec.variants['blas'].value}", f"-Dbench={str('+bench' in self.spec).lower()}"]
