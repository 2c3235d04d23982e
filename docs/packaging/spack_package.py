# Copy to var/spack/repos/REPO/packages/py-regionpredict/package.py of your Spack repository, and
# set `url` and `sha256` to the source archive that you use.
from spack.package import *


class PyRegionpredict(PythonPackage):
    """Predicts how many sockets and threads each OpenMP loop can use, from its source."""

    homepage = "https://example.org/regionpredict"
    url = "https://example.org/regionpredict-0.2.0.tar.gz"

    license("Apache-2.0", checked_by="regionpredict developers")

    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-hatchling@1.24:", type="build")
    depends_on("py-hatch-fancy-pypi-readme@24.1:", type="build")
    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("llvm@18 +clang +python", type="run")  # libclang and its bindings
    depends_on("py-numpy@1.24:", type=("build", "run"))
    depends_on("py-pcpp@1.30:", type=("build", "run"))
    depends_on("py-pycparser@3:", type=("build", "run"))
    depends_on("py-pyyaml@6:", type=("build", "run"))
    depends_on("py-scikit-learn@1.3:", type=("build", "run"))
    depends_on("py-scipy@1.9:", type=("build", "run"))
    depends_on("py-tomli@2:", type=("build", "run"), when="^python@:3.10")
