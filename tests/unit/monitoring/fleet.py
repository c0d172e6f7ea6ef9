# SPDX-License-Identifier: GPL-2.0-only
"""A fleet of hosts: files of metrics from the real exporter, served as by node_exporter, and a Prometheus that reads them."""

import contextlib
import datetime
import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import yaml

ROOT = Path(__file__).absolute().parents[3]
DOCS = ROOT / "docs/monitoring"
CARREFOUR = ROOT / "tests/unit/carrefour"
TEXTFILE = "/var/lib/prometheus/node-exporter/carrefour.prom"
MINUTE = 60         # between two files of fleet.c
KINDS, STALE = 20, 12       # of every 20 hosts, the one whose file is old


def build(out):
    """The program that writes the files."""
    env = {name: value for name, value in os.environ.items()
           if not name.startswith("MAKE") and name not in ("MFLAGS", "CFLAGS", "OUT")}
    done = subprocess.run(["make", "-s", "-C", CARREFOUR, f"OUT={out}", "CFLAGS=-O1 -g", out / "fleet"], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out / "fleet"


def write(program, directory, seed, hosts, files):
    """directory/FILE/host-NNNN.prom, the last of them as of now."""
    directory.mkdir()
    began = int(time.time()) - files * MINUTE
    done = subprocess.run([program, str(seed), str(hosts), str(files), str(began)], cwd=directory, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return began


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


class Server(http.server.ThreadingHTTPServer):
    """The file of each host at a step, with a series that says which step it is."""
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, directory):
        super().__init__(("127.0.0.1", 0), Handler)
        self.directory, self.step = directory, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def text(self, host):
        step = self.step
        path = self.directory / str(step) / f"{host}.prom"
        if not path.exists():
            return f"fleet_step {step}\n"
        written = time.time() - (600 if int(host.removeprefix("host-")) % KINDS == STALE else 1)
        return path.read_text() + (f'node_textfile_scrape_error 0\nnode_textfile_mtime_seconds{{file="{TEXTFILE}"}} {written}\n'
                                   f"fleet_step {step}\n")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.server.text(self.path.strip("/")).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        # Prometheus may end at any time.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, *args):
        pass


class Prometheus:
    def __init__(self, directory, config):
        self.port, self.log = free_port(), directory / "prometheus.log"
        (directory / "prometheus.json").write_text(json.dumps(config))       # which is YAML, too
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={directory / 'prometheus.json'}", f"--storage.tsdb.path={directory / 'tsdb'}",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn", "--query.timeout=60s"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.until(lambda: "Ready" in fetch(f"http://127.0.0.1:{self.port}/-/ready"))

    def until(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while True:
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()[-2000:]
            with contextlib.suppress(OSError):
                if condition():
                    return
            time.sleep(0.1)

    def ask(self, path, **parameters):
        answer = json.loads(fetch(f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"))
        assert answer["status"] == "success" and not answer.get("warnings"), answer
        return answer["data"]

    def query(self, expression, **when):
        return self.ask("query", query=expression, **when)["result"]

    def count(self):
        """The series that are ours."""
        return int(self.query("count({__name__=~'(carrefour|xen_numa)_.*'})")[0]["value"][1])

    def memory_mib(self):
        """The most that it had."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) >> 10

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def scrape_config(server, hosts, interval):
    """Targets are called as on a real fleet; all of them are here."""
    return {
        "global": {"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": "1s"},
        "rule_files": [str(DOCS / "alerts.yml")],
        "scrape_configs": [{
            "job_name": "node",
            "static_configs": [{"targets": [f"host-{number:04}:9100" for number in range(hosts)]}],
            "relabel_configs": [
                {"source_labels": ["__address__"], "target_label": "instance"},
                {"source_labels": ["__address__"], "regex": "(host-[0-9]+):.*", "target_label": "__metrics_path__",
                 "replacement": "/$1"},
                {"target_label": "__address__", "replacement": f"127.0.0.1:{server.server_address[1]}"},
            ],
        }],
    }


@contextlib.contextmanager
def running(program, directory, seed, hosts, files, interval):
    """A Prometheus that has read each file of each host, at least."""
    write(program, directory / "files", seed, hosts, files)
    server = Server(directory / "files")
    prometheus = None
    try:
        prometheus = Prometheus(directory, scrape_config(server, hosts, interval))
        # what was served may have been too late for it
        for step in range(files):
            server.step = step
            prometheus.until(lambda: len(prometheus.query(f"fleet_step == {step}")) == hosts, seconds=300)
        # and its rules have been looked at since
        began = time.time()
        prometheus.until(lambda: all(began < timestamp(group["lastEvaluation"]) for group in prometheus.ask("rules")["groups"]))
        yield prometheus
    finally:
        if prometheus:
            prometheus.stop()
        server.shutdown()


def timestamp(text):
    """RFC 3339 with nanoseconds; in UTC, or with an offset."""
    head, _, tail = text.partition(".")
    offset = "+00:00" if text.endswith("Z") else text[-6:]
    return datetime.datetime.fromisoformat(head.removesuffix("Z") + offset).timestamp() + 1 if tail else 0


def rules():
    return [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]


def panels(board):
    return json.loads((DOCS / board).read_text())["panels"]


def filled(expression):
    """As Grafana fills it in, for all hosts and VMs."""
    for name, value in (("$instance", ".*"), ("$domain", ".*"), ("$__rate_interval", "5m")):
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression
