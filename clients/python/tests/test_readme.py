"""The README's code works as it stands."""

import os
import pathlib
import re
import unittest

README = pathlib.Path(__file__).parent.parent / "README.md"


class ReadmeTest(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("EARSHOT_KEY"), "NOT TESTED against a sidecar: EARSHOT_KEY is not set")
    def test_the_code_of_the_readme_runs(self):
        said, asked, shown = [], [], []

        def model(chat):
            asked.append(chat)
            return "Staging is down."

        def say(channel, text):
            said.append((channel, text))
            return "4"

        names = {"model": model, "say": say, "print": lambda *args: shown.append(args)}
        blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
        blocks = [b for b in blocks if not b.startswith("# ")]  # those are bots, which .ci/clients runs
        for block in blocks:
            exec(compile(block, str(README), "exec"), names)  # the README is ours
        self.assertEqual(len(blocks), 4)
        self.assertEqual(said, [("ops", "Staging is down.")])
        self.assertIn("staging is down", asked[0][1]["content"])
        self.assertEqual(shown[-1][0], False)
        self.assertIn("1", shown[-1][1])
