"""Estimators of the number of iterations of a run, from samples of its graph."""

from predict_graph.iterations.estimate import IterationEstimate as IterationEstimate
from predict_graph.iterations.estimate import Progress as Progress
from predict_graph.iterations.method import METHODS as METHODS
from predict_graph.iterations.method import EdgeBudget as EdgeBudget
from predict_graph.iterations.method import Method as Method
from predict_graph.iterations.method import SamplingCase as SamplingCase
from predict_graph.iterations.method import check_max_overhead as check_max_overhead
from predict_graph.iterations.method import check_method as check_method
from predict_graph.iterations.method import estimate_iterations as estimate_iterations
from predict_graph.iterations.method import methods_for as methods_for
from predict_graph.iterations.samples import SAMPLERS as SAMPLERS
from predict_graph.iterations.samples import SampleRun as SampleRun
from predict_graph.iterations.samples import WalkSample as WalkSample
from predict_graph.iterations.samples import check_ratio as check_ratio
from predict_graph.iterations.samples import draw_sample as draw_sample
from predict_graph.iterations.samples import run_sample as run_sample
