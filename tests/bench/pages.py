"""What the pages of results have in common."""

import subprocess


def table(head, rows, left=1):
    """Markdown; the first columns to the left, the others to the right."""
    lines = ["| " + " | ".join(head) + " |", "|---" * left + "|---:" * (len(head) - left) + "|"]
    return lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]


def versions():
    def first_line(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return {"qemu": first_line("qemu-system-x86_64", "--version"), "gcc": first_line("gcc", "--version")}
