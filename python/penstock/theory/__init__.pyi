# The public names: penstock.lazy_names imports each on first use.
from penstock.theory.api import compare_with_packets as compare_with_packets
from penstock.theory.api import margins as margins
from penstock.theory.api import phase_portrait as phase_portrait
from penstock.theory.api import sliding_verdicts as sliding_verdicts
from penstock.theory.api import stability_map as stability_map
from penstock.theory.configuration import Configuration as Configuration
from penstock.theory.configuration import UnsuitedScenarioError as UnsuitedScenarioError
from penstock.theory.configuration import configuration as configuration
from penstock.theory.configuration import configurations as configurations
from penstock.theory.maps import Map as Map
from penstock.theory.margin import MarginReport as MarginReport
from penstock.theory.overlay import Overlay as Overlay
