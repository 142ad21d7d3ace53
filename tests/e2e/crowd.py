"""A controller of its own for a batch: `python -m tests.e2e.crowd ROOT REVIEWS` prints the memory it took, in MB."""

import asyncio
import os
import resource
import sys
from pathlib import Path

from loopwright.adapters.terminal.prompt import Nobody
from loopwright.app.project import open_project
from loopwright.app.readiness import make_ready
from loopwright.app.settings import settings_of
from loopwright.app.starts.review import ReviewRequest, create_review
from loopwright.app.worlds import build_world
from loopwright.engine.driver import drive


async def main(root: Path, reviews: int) -> None:
    project = open_project(root, os.environ)
    request = ReviewRequest(paths=("stories",), batch=True, max_attempts=reviews)
    loop = await create_review(project, settings_of(project), request, root)
    ready = await make_ready(project, loop, sys.exit)
    await drive(build_world(project, ready, people=Nobody(), observer=ready.publisher), ready.seen.opened)
    await project.store.close()
    sys.stdout.write(str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
