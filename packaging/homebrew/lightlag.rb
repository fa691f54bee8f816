# A formula for Homebrew, on macOS and Linux. `make sdist` packs the sources with the page of the studio; then, in a tap:
#
#   brew install --build-from-source lightlag
class Lightlag < Formula
  include Language::Python::Virtualenv

  desc "Simulates transport protocols over satellite, wireless and other long or lossy paths"
  version "0.1.0"
  url "file://#{File.expand_path("../../target/sdist/lightlag-#{version}.tar.gz", __dir__)}"
  license "MIT"

  depends_on "rust" => :build
  depends_on "python@3.13"

  def install
    python = Formula["python@3.13"].opt_bin/"python3.13"
    system python, "-m", "venv", libexec
    # The dependencies are wheels of PyPI, in the versions of pyproject.toml.
    system libexec/"bin/pip", "install", "--no-cache-dir", buildpath
    bin.install_symlink libexec/"bin/lightlag"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/lightlag --version")
    system bin/"lightlag", "run", "geo", "--set", "duration=10 s", "--quiet"
  end
end
