"""Resource profiles of machines: short measurements, files, and scaling times between machines.

Resource profiles are those of NIMO (2005, sections IV-A and IV-D): attributes of the resources,
measured without the task.
"""

from predict_graph.resources.calibration import calibrate as calibrate
from predict_graph.resources.profile import Measured as Measured
from predict_graph.resources.profile import ResourceProfile as ResourceProfile
from predict_graph.resources.profile import carried_factor as carried_factor
from predict_graph.resources.profile import read_profile as read_profile
from predict_graph.resources.profile import write_profile as write_profile
