#!/usr/bin/env python3
"""kasen doctor: each verdict, on systems that are not as they should be (--root), and on this one.

Usage: doctor_test.py FOLDER_OF_TOOLS SOURCE_ROOT [unittest arguments]
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True  # the source tree stays as it is
from folders import FolderTest  # noqa: E402

TOOLS = pathlib.Path(sys.argv[1])
OK, BETTER, BROKEN = "ok", "could be better", "broken"


class Doctor(FolderTest):
    def doctor(self, *args, before="", cwd=None, tools=TOOLS, **env):
        """Its JSON by check; `before` is what the shell does before."""
        line = f"{before} exec '{tools}/kasen-doctor' --format json " + " ".join(map(str, args))
        done = subprocess.run(["bash", "-c", line], cwd=cwd or self.dir, env={**os.environ, **env}, capture_output=True, text=True,
                              timeout=240, check=False)
        self.assertEqual(done.stderr, "")
        told = json.loads(done.stdout)
        self.assertEqual(done.returncode, 0 if told["usable"] else 1)
        return {check["name"]: check for check in told["checks"]}

    def system(self, files):
        root = self.dir / "root"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        if (root / "dev/shm").exists():
            time.sleep(2)  # what is younger is left alone
        return root

    def test_systems(self):
        sys_cpu, huge = "sys/devices/system/cpu", "sys/kernel/mm/transparent_hugepage/enabled"
        memory = "MemTotal: 8000000 kB\nMemAvailable: {} kB\n"
        v2 = "sys/fs/cgroup/job"
        segment = "dev/shm/vader_segment.node.0.12be0001"
        for check, files, verdict, says, mend in [
                ("cores", {"proc/self/cgroup": "0::/job/step\n", f"{v2}/cpu.max": "50000 100000\n"}, BETTER, "the time of 0.5; a run starts 1 thread", "--cpus"),
                ("cores", {"proc/self/cgroup": "3:cpu,cpuacct:/job\n", "sys/fs/cgroup/cpu/job/cpu.cfs_quota_us": "50000\n",
                           "sys/fs/cgroup/cpu/job/cpu.cfs_period_us": "100000\n"}, BETTER, "the time of 0.5; a run starts 1 thread", "--cpus"),
                ("cores", {"proc/self/cgroup": "0::/job\n", f"{v2}/cpu.max": "max 100000\n"}, OK, "all of them allowed", ""),
                ("vectors", {"proc/cpuinfo": "flags\t\t: fpu sse2 avx2 fma avx512f\n"}, OK, "AVX-512", ""),
                ("vectors", {"proc/cpuinfo": "flags\t\t: fpu avx2 fma\n"}, OK, "AVX2", ""),
                ("vectors", {"proc/cpuinfo": "flags\t\t: fpu sse2\n"}, BETTER, "neither", "-cpu host"),
                ("governor", {f"{sys_cpu}/cpu0/cpufreq/scaling_governor": "performance\n"}, OK, "performance", ""),
                ("governor", {f"{sys_cpu}/cpu0/cpufreq/scaling_governor": "powersave\n"}, BETTER, "powersave", "cpupower"),
                ("huge-pages", {huge: "always [madvise] never\n"}, OK, "madvise", ""),
                ("huge-pages", {huge: "always madvise [never]\n"}, BETTER, "half the speed", "echo madvise"),
                ("huge-pages", {}, BETTER, "no transparent huge pages", "CONFIG_TRANSPARENT_HUGEPAGE"),
                ("memory", {"proc/meminfo": memory.format(4000000)}, OK, "3.81 GiB available of 7.63 GiB", ""),
                ("memory", {"proc/meminfo": memory.format(4000)}, BROKEN, "3.91 MiB", "end other programs"),
                ("memory", {"proc/meminfo": memory.format(4000000), "proc/self/cgroup": "0::/job\n", f"{v2}/memory.max": "300000000\n",
                            f"{v2}/memory.current": "100000000\n", f"{v2}/memory.stat": "inactive_file 0\n"}, BETTER,
                 "the control group leaves 191 MiB", "--mem"),
                ("shared-memory", {}, BETTER, "no /dev/shm", "mount"),
                ("shared-memory", {f"{segment}.0": "x" * 9000, f"{segment}.1": "x" * 9000, "dev/shm/other": "x",
                                   "proc/17/maps": f"7f00-7f10 rw-s 0 00:1a 7 /{segment}.1\n"}, BETTER,
                 "left 1 file of 0.0117 MiB there", f"rm {self.dir}/root/{segment}.0"),
                ("shared-memory", {f"{segment}.{i}": "x" * 9000 for i in range(11)}, BETTER, "left 11 files",
                 f"rm {self.dir}/root/{segment}.0 {self.dir}/root/{segment}.1 "),
                ("shared-memory", {f"{segment}.{i}": "x" * 9000 for i in range(11)}, BETTER, "left 11 files",
                 f"{self.dir}/root/{segment}.6 (and 3 more, listed once these are gone)"),  # 0, 1, 10, 2, ... 6
                ("shared-memory", {f"{segment}.0": "x" * 9000, "proc/17/maps": f"7f00-7f10 rw-s 0 00:1a 7 /{segment}.0\n"}, OK,
                 "free in /dev/shm", ""),
        ]:
            with self.subTest(check=check, says=says):
                root = self.system({**files, "empty": ""})
                found = self.doctor("--root", root, "--only", check)[check]
                self.assertEqual(found["verdict"], verdict, found)
                self.assertIn(says, found["what"])
                self.assertIn(mend, found["remedy"])
                self.assertEqual(found["verdict"] == OK, found["remedy"] == "")
                subprocess.run(["rm", "-r", root], check=True)

    def test_shells(self):
        """What limits, folders and variables of the shell do, and other machines (hwloc's variable)."""
        (self.dir / "open" / "kasen").mkdir(parents=True)
        (self.dir / "open" / "kasen").chmod(0o755)
        (self.dir / "bin").mkdir()
        (self.dir / "bin" / "mpirun").write_text("#!/bin/sh\necho 'mpirun of another kind'\n")
        (self.dir / "bin" / "mpirun").chmod(0o755)
        (self.dir / "fast.yaml").write_text("memory_bandwidth: 9e14\n")
        slurm = {"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "4000"}
        for check, before, env, verdict, says, mend in [
                ("cores", "", {"HWLOC_SYNTHETIC": "pu:1000"}, BETTER, "of 1000 processors", "--cpus-per-task"),
                ("threads", "", {"HWLOC_SYNTHETIC": "core:4 pu:2"}, OK, "several hardware threads", ""),
                ("threads", "", {"HWLOC_SYNTHETIC": "core:4 pu:1"}, OK, "one thread a core", ""),
                ("threads", "", {"HWLOC_SYNTHETIC": "pu:8"}, OK, "does not report it", ""),
                ("cores", "taskset -c 0", {}, OK if os.cpu_count() == 1 else BETTER, "processors", ""),
                ("memory", "ulimit -v 1000000;", {}, BETTER, "ulimit -v leaves 977 MiB", "ulimit -v unlimited"),
                ("open-files", "ulimit -n 256;", {}, BETTER, "256 open files", "ulimit -n 4096"),
                ("open-files", "ulimit -n 40;", {}, BROKEN, "40 open files", "ulimit -n 4096"),
                ("temporary-folder", "", {"TMPDIR": "/nowhere"}, BROKEN, "/nowhere: cannot be written", "TMPDIR"),
                ("code-cache", "", {"XDG_CACHE_HOME": str(self.dir / "open")}, BETTER, "755, open to others", "chmod 700"),
                ("code-cache", "", {"XDG_CACHE_HOME": str(self.dir / "new")}, OK, "the first run makes it", ""),
                ("code-cache", "unset HOME XDG_CACHE_HOME;", {}, BETTER, "compiled anew", "set HOME"),
                ("mpi", "", {"PATH": str(self.dir / "bin")}, BROKEN, "not of Open MPI", "PATH"),
                ("mpi", "", {"PATH": "/nowhere"}, BROKEN, "not in PATH", "install Open MPI"),
                ("root", "unset OMPI_ALLOW_RUN_AS_ROOT;", {}, BETTER if os.geteuid() == 0 else OK, "root", ""),
                ("job", "", slurm, BETTER, "Slurm job 7, 4000 processors a task; this step has", "srun --cpus-per-task"),
                ("bandwidth", "", {"machine": "fast.yaml"}, BETTER, "plans are made for 9e+05 GB/s (fast.yaml)", "--calibrate"),
        ]:
            with self.subTest(check=check, says=says):
                more = ["--machine", env.pop("machine")] if "machine" in env else []
                # bash itself is found before PATH is set
                setting = " ".join(f"export {name}='{value}';" for name, value in env.items())
                found = self.doctor("--only", check, *more, before=setting + before)[check] if before[:4] != "task" else \
                    json.loads(subprocess.run(["taskset", "-c", "0", TOOLS / "kasen-doctor", "--format", "json", "--only", check],
                                              capture_output=True, text=True, check=True).stdout)["checks"][0]
                self.assertEqual(found["verdict"], verdict, found)
                self.assertIn(says, found["what"])
                self.assertIn(mend, found["remedy"])

    def test_tools_that_do_not_work(self):
        """Kernels that give wrong numbers, MPI that hangs up, libraries that are others than they were."""
        bin_folder = self.dir / "tools"
        bin_folder.mkdir()
        for name in ["kasen-plan", "kasen-fuse", "kasen-partition"]:
            os.symlink(TOOLS / name, bin_folder / name)
        (bin_folder / "kasen-doctor").write_bytes((TOOLS / "kasen-doctor").read_bytes())
        (bin_folder / "kasen-doctor").chmod(0o755)
        run = bin_folder / "kasen-run"
        for script, check, verdict, says in [
                ("echo 'LLVM 16.0.6 17.0.1'; echo 'HDF5 1.10.8 1.10.8'", "libraries", BETTER, "LLVM 17.0.1, HDF5 1.10.8; LLVM was 16.0.6"),
                ("echo 'libLLVM-16.so.1: cannot open shared object file' >&2; exit 127", "libraries", BROKEN, "libLLVM-16.so.1"),
                ("for o; do [ \"$last\" = -o ] && printf 'N,rows\\n1,2\\n2,2\\n3,0\\n' > $o; last=$o; done", "kernels", BROKEN, "the result is wrong"),
                ("kill -9 $$", "mpi", BROKEN, "ended by signal 9"), ("sleep 1000", "kernels", BROKEN, "no end after")]:
            run.write_text(f"#!/bin/sh\n{script}\n")
            run.chmod(0o755)
            found = self.doctor("--only", check, "--patience", 3, tools=bin_folder)[check]
            self.assertEqual(found["verdict"], verdict, found)
            self.assertIn(says, found["what"])
            self.assertTrue(found["remedy"])

    def test_this_machine(self):
        """It works here, and leaves nothing behind."""
        tmp = self.dir / "tmp"
        tmp.mkdir()
        found = self.doctor(TMPDIR=str(tmp), XDG_CACHE_HOME=str(self.dir / "cache"))
        self.assertEqual([name for name, check in found.items() if check["verdict"] == BROKEN], [])
        self.assertIn("two ranks ran", found["mpi"]["what"])
        self.assertRegex(found["libraries"]["what"], r"LLVM \d+\.\d+\.\d+, HDF5 \d+\.\d+\.\d+, MPI \d+\.\d+\.\d+")
        self.assertRegex(found["bandwidth"]["what"], r"[\d.]+ GB/s read by \d+ threads|not measured")
        self.assertEqual(list(tmp.glob("kasen*")), [])
        text = subprocess.run([TOOLS / "kasen", "doctor", "--only", "cores", "--only", "governor"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(text, r"(?s)^Processor:\n  cores .*\n  governor .*\nusable: \d ok, \d could be better, 0 broken\n$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
