"""Where the program `loop` begins: what a hook is asked is answered before anything else is loaded."""

import sys


def main() -> None:
    if sys.argv[1:2] == ["hook"]:
        # Every turn of an agent pays for what is loaded here; `from loopwright import …` would load all of it.
        import loopwright.hook as hook  # noqa: PLC0415, PLR0402

        if hook.is_asked(sys.argv[2:]):
            sys.exit(hook.main(sys.argv[2:]))
    from loopwright.cli.main import main as run  # noqa: PLC0415 - after the look at argv

    run()


if __name__ == "__main__":
    main()
