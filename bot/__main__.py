"""The command `casebound`."""

import sys
from collections.abc import Sequence

from bot.cli.failures import INTERRUPTED, report


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code: 0 done, 1 refused or failed, 2 wrong usage."""
    try:
        from typer.main import get_command

        from bot.cli.root import app

        get_command(app).main(args=list(arguments), prog_name="casebound")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return report(error)
    return 0


def main() -> None:
    """The entry point."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
