"""ReFrame: one job on all idle machines, one process on each, and the verdicts of `nearfar fleet compare` as
performance variables. It fails where a machine is bad, is to be measured again, is not known or is missing.

    reframe -C SITE.py -c nearfar_fleet.py -r [-S nearfar=/path/to/nearfar] [-S options='--budget 60s']

Site settings: the partition's scheduler is `slurm`, or `squeue` where Slurm keeps no accounts.
"""

import json
import os
import subprocess

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_before, sanity_function, variable
from reframe.core.exceptions import SanityError


@rfm.simple_test
class NearfarFleet(rfm.RunOnlyRegressionTest):
    descr = 'Memory of every idle machine against its peers'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    #: The program, on the machines and here.
    nearfar = variable(str, value='nearfar')
    #: Further arguments of `characterize`.
    options = variable(str, value='--budget 120s')
    num_tasks = 0
    num_tasks_per_node = 1
    time_limit = '15m'

    @run_before('run')
    def whole_machine(self):
        # A step's own binding would leave it one CPU; one machine that fails ends no other.
        self.executable = self.nearfar
        self.executable_opts = ['characterize', '--run', 'run', *self.options.split()]
        self.job.options += ['--exclusive', '--mem=0']
        self.job.launcher.options += ['--cpu-bind=none', '--mem-bind=none', '--kill-on-bad-exit=0', '--wait=0']

    def compared(self):
        if not hasattr(self, '_compared'):
            command = [self.nearfar, 'fleet', 'compare', os.path.join(self.stagedir, 'run'), '--json']
            output = subprocess.run(command, stdout=subprocess.PIPE)
            # 0: good, 1: bad, 2: not known of some; where nothing can be compared it has said why.
            if not output.stdout:
                raise SanityError(f'nearfar fleet compare ended with status {output.returncode}')
            self._compared = json.loads(output.stdout)
        return self._compared

    @sanity_function
    def all_measured(self):
        return sn.assert_eq(len(self.compared()['machines']), self.job.num_tasks)

    @run_before('performance')
    def verdicts(self):
        found = self.compared()['verdicts']
        count = {name: found.get(name, 0) for name in ('good', 'again', 'bad', 'unknown')}
        self.perf_variables = {
            name: sn.make_performance_function(lambda it: it, 'machines', number) for name, number in count.items()
        }
        for machine in self.compared()['machines']:
            if machine['ratio'] is not None:
                function = sn.make_performance_function(lambda it: it, 'ratio', machine['ratio'])
                self.perf_variables[f"{machine['machine']}.of_peers_median"] = function
            for shortfall in machine['shortfalls'][:1]:
                function = sn.make_performance_function(lambda it: it, 'ratio', shortfall['ratio'])
                self.perf_variables[f"{machine['machine']}.shortfall"] = function
        none = (0, None, 0, 'machines')
        self.reference = {'*': {'bad': none, 'unknown': none, 'again': none}}
