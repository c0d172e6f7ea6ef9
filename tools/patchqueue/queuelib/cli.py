# SPDX-License-Identifier: GPL-2.0-only
"""The verbs of pq."""
import argparse
import os
import subprocess
import sys

from . import base, common, rebase, series, tree, verify


def commit(name, what):
    """For the build scripts: the repository and the commit of the series, or of its base."""
    found = base.get_base(name)
    if not found.pinned:
        common.warn(f"{name}: the base is {found.origin}, not what {common.DIRECTORY[name]}/BASE names")
    tip = found.commit if what == "base" else series.series_commit(found, common.series_dir(name))
    print(found.repo, tip)


def bisect(name, quick=False):
    """Building is the business of tools/build."""
    if subprocess.run([common.BUILD_SCRIPTS / "bisect.sh", name, "quick" if quick else "exact"], check=False,
                      env=dict(os.environ, PQ_ROOT=str(common.ROOT))).returncode:
        raise common.Error(f"{common.DIRECTORY[name]}: not every patch builds")


VERBS = {
    "import": ("make build/trees/NAME from the patch files, or refresh it", tree.import_tree),
    "export": ("write the commits of build/trees/NAME back as patch files", tree.export_tree),
    "verify": ("do the patches apply without fuzz, come back byte for byte, and look right?", verify.verify),
    "bisect": ("does each patch build, with the option on and off?", bisect),
}


def parser():
    top = argparse.ArgumentParser(prog="pq", description="Turns the patch files of a series into a git tree, and back.")
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, (text, _) in VERBS.items():
        sub = verbs.add_parser(verb, help=text)
        sub.add_argument("name", nargs="?", choices=list(common.DIRECTORY), help="which series (default: both)")
        if verb == "bisect":
            sub.add_argument("--quick", action="store_true", help="compile only the files that the series touches")
        if verb == "import":
            sub.add_argument("--gently", action="store_true", help="do not touch a tree that has work of yours")
            sub.add_argument("--only", metavar="FILE", help="a new tree gets only the directories that this file lists")
    sub = verbs.add_parser("rebase", help="move a series to other sources; without these, finish a rebase that stopped")
    sub.add_argument("name", choices=list(common.DIRECTORY))
    sub.add_argument("onto", nargs="?", metavar="TARBALL|GIT-TREE[:REF]", help="the other sources")
    sub = verbs.add_parser("commit", help="print repository and commit of a series (for tools/build)")
    sub.add_argument("name", choices=list(common.DIRECTORY))
    sub.add_argument("what", choices=["series", "base"])
    return top


def run(args):
    if args.verb == "commit":
        commit(args.name, args.what)
    elif args.verb == "rebase":
        rebase.rebase(args.name, args.onto)
    else:
        extra = {option: getattr(args, option) for option in ("gently", "only", "quick") if getattr(args, option, None)}
        for name in [args.name] if args.name else common.DIRECTORY:
            VERBS[args.verb][1](name, **extra)


def main():
    args = parser().parse_args()
    try:
        run(args)
    except common.Error as error:
        print(f"pq {args.verb}: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"pq {args.verb}: {error.strerror}: {error.filename or ''}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0
