# The public names: penstock.lazy_names imports each on first use.
from penstock.testbed.cleanup import down as down
from penstock.testbed.errors import TestbedError as TestbedError
from penstock.testbed.runner import run as run
from penstock.testbed.runner import up as up
