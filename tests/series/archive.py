# SPDX-License-Identifier: GPL-2.0-only
"""Debian's archive, pretended: its hosts are directories, and an HTTP proxy serves them and writes down what it was asked for.

The tools reach it through the user's apt configuration, as any mirror.
"""
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

from tiny_tree import SOURCE, sha256, tarball


class Archive:
    """The proxy and its hosts.  `cut` are paths whose connection ends in the middle of the file."""

    def __init__(self, place):
        self.place = place
        self.asked = []             # (path, was it there?)
        self.cut = set()
        archive = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                url = urlsplit(self.path)
                path = f"{url.hostname}{unquote(url.path)}"
                found = (archive.place / path).is_file()
                archive.asked.append((path, found))
                if not found:
                    self.send_error(404)
                    return
                data = (archive.place / path).read_bytes()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[:len(data) // 2] if path in archive.cut else data)

            def log_message(self, *_):
                """Nobody reads it."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.proxy = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def put(self, directory, name, mark):
        """A source tarball of these bytes (a `mark` in it) in a directory of a host."""
        (self.place / directory).mkdir(parents=True, exist_ok=True)
        return tarball(self.place / directory / name, dict(SOURCE, README=("0644", f"{mark}\n")))

    def publish(self, root, suite, sources):
        """An index of (package, version, directory, tarball); a tarball that is there need not be so later."""
        index = ""
        for package, version, directory, path in sources:
            dsc = f"{package}_{version.partition(':')[2] or version}.dsc"
            index += (f"Package: {package}\nFormat: 3.0 (quilt)\nBinary: {package}\nArchitecture: any\nVersion: {version}\n"
                      f"Directory: {directory}\nChecksums-Sha256:\n {'0' * 64} 1 {dsc}\n"
                      f" {sha256(path)} {path.stat().st_size} {path.name}\n\n")
        where = self.place / root / "dists" / suite
        listed = where / "main/source/Sources"
        listed.parent.mkdir(parents=True, exist_ok=True)
        listed.write_text(index)
        (where / "Release").write_text(
            f"Suite: {suite}\nCodename: {suite}\nComponents: main\nArchitectures: amd64\nDate: Sat, 21 Nov 2026 00:00:00 UTC\n"
            f"SHA256:\n {sha256(listed)} {listed.stat().st_size} main/source/Sources\n")

    def tarballs_asked(self):
        return [path for path, _ in self.asked if ".orig.tar." in path]


def apt_conf(queue, sources, proxy="http://127.0.0.1:9", extra=""):
    """The user's apt configuration, with nothing in it but these sources; without a proxy that answers there is no network."""
    parts = queue.home / "sources"
    parts.mkdir(exist_ok=True)
    (parts / "user.list").write_text(sources)
    conf = queue.home / "apt.conf"
    conf.write_text(f'Dir::Etc::SourceList "/dev/null"; Dir::Etc::SourceParts "{parts}"; Acquire::Retries::Delay "false";\n'
                    f'Acquire::http::Proxy "{proxy}"; Acquire::https::Proxy "{proxy}"; Acquire::Check-Date "false";\n'
                    'Acquire::AllowInsecureRepositories "true"; APT::Get::AllowUnauthenticated "true";\n' + extra)
    return str(conf)


def debian(queue, version, name="debian"):
    """An /etc/os-release."""
    path = queue.home / f"os-release-{name}-{version}"
    path.write_text(f'PRETTY_NAME="{name} {version}"\nID={name}\nVERSION_ID="{version}"\n')
    return str(path)
