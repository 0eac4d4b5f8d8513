// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
)

// TestFailureQuickAndSlow compares the results for tables that were adapted to a failure with those for the same tables
// from a file, which are compared in full.
func TestFailureQuickAndSlow(t *testing.T) {
	for _, failure := range []string{"link leaf-01 13", "link node-0013", "switch spine-02", "switch leaf-03",
		"random 3 seed=5"} {
		file := filepath.Join(t.TempDir(), "lfts")
		const source = "sim:fattree:2,24"
		first := "fail " + failure + "; route incremental; "
		out := ibconsole(t, "-s", source, "--json", "-c", first+"diff; dump lfts "+file+"; load lfts "+file+
			"; diff base staged")
		// A check fails, and ends its script, if hosts are unreachable.
		out += try("-s", source, "--json", "-c", first+"check reach").out
		out += try("-s", source, "--json", "-c", first+"load lfts "+file+"; check reach").out
		var checks []map[string]any
		diffs := map[any][]map[string]any{} // their objects by the number of the answer
		for line := range strings.Lines(out) {
			var m map[string]any
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			switch {
			case m["command"] == "check reach":
				for _, key := range []string{"of", "seconds", "answer"} {
					delete(m, key)
				}
				checks = append(checks, m)
			case m["command"] == "diff":
				for _, key := range []string{"old", "new", "of", "found"} {
					delete(m, key)
				}
				number := m["answer"]
				delete(m, "answer")
				diffs[number] = append(diffs[number], m)
			}
		}
		if len(checks) != 2 || len(diffs) != 2 {
			t.Fatalf("%s: %d checks and %d diffs in\n%s", failure, len(checks), len(diffs), out)
		}
		if !reflect.DeepEqual(checks[0], checks[1]) {
			t.Errorf("%s: checked %v\nfrom a file %v", failure, checks[0], checks[1])
		}
		both := slices.Collect(maps.Values(diffs))
		if len(both[0]) < 3 || !reflect.DeepEqual(both[0], both[1]) {
			t.Errorf("%s: diff %v\nfrom a file %v", failure, both[0], both[1])
		}
	}
}

// failed is a report without the details of its production.
func failed(t *testing.T, file string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(read(t, file)), &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "checksum")
	delete(m, "shard")
	delete(m, "shards")
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestResilience has a fat-tree of 8-port switches, 4 spines and 8 leaves with 4 hosts each. No link and no spine makes
// a host unreachable. A leaf makes its 4 hosts unreachable, with the paths to and from them: 32*31 - 28*27.
func TestResilience(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	out := ibconsole(t, "-s", "sim:fattree:2,8", "-c", "resilience switches top=1; resilience links to="+at("all")+
		"; resilience links shard=1/2 to="+at("1")+"; resilience links shard=2/2 to="+at("2")+"; resilience merge to="+
		at("merged")+" "+at("1")+" "+at("2"))
	for _, want := range []string{
		"12 of 12 failures (switches) simulated; without a failure 992 paths",
		"8 lose paths, 8 of them make host ports unreachable",
		"leaf-01: 236 paths lost, 4 host ports unreachable",
		"32 of 32 failures (links) simulated", "0 lose paths, 0 of them make host ports unreachable",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if a, b := failed(t, at("all")), failed(t, at("merged")); a != b {
		t.Errorf("in one run %s\nmerged %s", a, b)
	}
	// The file of a shard has the number of VLs, so that a merge lists it.
	out = ibconsole(t, "-s", "sim:dragonfly:4,2,2", "-c", "engine minhop; route; resilience links top=3 shard=1/2 to="+
		at("d1")+"; resilience links top=3 shard=2/2 to="+at("d2"))
	want := strings.Count(out, " VLs would avoid it")
	if out = ibconsole(t, "-s", "sim:fattree:2,4", "-c", "resilience merge "+at("d1")+" "+at("d2")); want == 0 ||
		strings.Count(out, " VLs would avoid it") != want {
		t.Errorf("the merged report lacks VLs:\n%s", out)
	}
	for _, c := range []struct{ command, want string }{
		{"resilience merge " + at("1"), "shard 2 of 2 not done"},
		{"resilience merge " + at("1") + " " + at("1"), "two reports of shard 1 of 2"},
		{"resilience merge " + at("all") + " " + at("1"), "1 shards and one into 2"},
		{"resilience pairs shard=2/2 to=" + at("2"), "one of pairs and one of links"},
		{"resilience links shard=1/2 to=" + at("2"), "expected 1 of 2"},
		{"fail link leaf-01 5; route incremental; resilience links shard=2/2 to=" + at("2"), "differ"},
	} {
		if r := try("-s", "sim:fattree:2,8", "-c", c.command); r.status != exitFailed ||
			!strings.Contains(r.err, c.want) {
			t.Errorf("%s: status %d, %s; want %q", c.command, r.status, r.err, c.want)
		}
	}
	for _, shard := range []string{"0/2", "3/2", "1", "a/b"} {
		if r := try("-s", "sim:fattree:2,8", "-c", "resilience links shard="+shard); r.status != exitUsage {
			t.Errorf("shard=%s: status %d, %s", shard, r.status, r.err)
		}
	}
}

// TestResilienceJobArray runs the job array on a private Slurm on loopback, with one task killed and requeued.
func TestResilienceJobArray(t *testing.T) {
	t.Parallel()
	s := startSlurm(t)
	dir := filepath.Join(s.dir, "it's a job")
	ibconsole(t, "-s", "sim:fattree:2,16", "-c", "resilience pairs to="+filepath.Join(s.dir, "whole")+
		"; resilience sbatch \""+dir+"\" kind=pairs shards=4")
	job := strings.TrimSpace(s.run("sbatch", "--parsable", filepath.Join(dir, "resilience.sbatch")))
	s.until("task 2 to run", func() bool {
		state := s.run("squeue", "--noheader", "--array", "--format=%K %T")
		return strings.Contains(state, "2 RUNNING") || !strings.Contains(state, "2 PENDING")
	})
	s.run("scontrol", "requeue", job+"_2")
	s.until("the queue to empty", func() bool { return strings.TrimSpace(s.run("squeue", "--noheader")) == "" })
	if info := s.run("scontrol", "show", "job", job+"_2"); !strings.Contains(info, "Restarts=1") ||
		!strings.Contains(info, "JobState=COMPLETED") {
		t.Errorf("task 2 was not run again:\n%s", info)
	}
	s.whatHappenedTo(job)
	files := ""
	for i := 1; i <= 4; i++ {
		files += fmt.Sprintf(" \"%s/shard-%d.json\"", dir, i)
	}
	ibconsole(t, "-s", "sim:fattree:2,4", "-c", "resilience merge to="+filepath.Join(s.dir, "merged")+files)
	if a, b := failed(t, filepath.Join(s.dir, "whole")), failed(t, filepath.Join(s.dir, "merged")); a != b {
		t.Errorf("on one machine %.2000s\nby Slurm %.2000s", a, b)
	}
}

// whatHappenedTo queries the console for a job, whose host has the name of one of a simulated subnet.
func (s *slurm) whatHappenedTo(job string) {
	s.t.Helper()
	row := answerOf[struct{ Node struct{ GUID string } }](s.t, ibconsole(s.t, "-s", "sim:fattree:2,4", "--json", "-c",
		"show nodes"), `"node-0001 HCA-1"`)
	host := strings.TrimSpace(s.run("sinfo", "--noheader", "--Node", "--format=%N"))
	names := filepath.Join(s.dir, "names")
	if err := os.WriteFile(names, []byte(fmt.Sprintf("%s %q\n", row.Node.GUID, host)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	cmd := s.command(program, "-s", "sim:fattree:2,4", "--json", "-c", "names "+names+"; job "+job)
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var a struct {
		ID, State, User, Set string
		Hosts                int
		Since, Until         time.Time
	}
	if err := errors.Join(err, json.Unmarshal([]byte(lines[len(lines)-1]), &a)); err != nil || a.ID != job ||
		a.State != "COMPLETED" || a.User != "root" || a.Hosts != 1 || a.Set != "job-"+job {
		s.t.Errorf("job %s: %s, %v", job, out, err)
	}
	if now := time.Now(); now.Sub(a.Since) > time.Hour || a.Until.Before(a.Since) || a.Until.After(now) {
		s.t.Errorf("job %s ran from %v to %v", job, a.Since, a.Until)
	}
}

// slurm is a Slurm of one node.
type slurm struct {
	t     *testing.T
	dir   string
	env   []string
	ended []chan struct{} // of its processes, closed at their end
}

func startSlurm(t *testing.T) *slurm {
	t.Helper()
	for _, tool := range []string{"slurmd", "sbatch"} {
		testenv.Tool(t, tool)
	}
	s := startController(t, "NodeName=HOST NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN\n", nil)
	s.start("slurmd", "-D", "-f", filepath.Join(s.dir, "slurm.conf"))
	s.until("the node to be idle", func() bool {
		out, err := s.command("sinfo", "--noheader", "--format=%T").CombinedOutput()
		return err == nil && strings.TrimSpace(string(out)) == "idle"
	})
	return s
}

// startController starts Slurm without nodes, with these lines of its configuration and more files next to it.
func startController(t *testing.T, nodes string, more map[string]string) *slurm {
	t.Helper()
	for _, tool := range []string{"slurmctld", "munged"} {
		testenv.Tool(t, tool)
	}
	if os.Getuid() != 0 {
		t.Skip("slurmd starts jobs only as root")
	}
	dir, err := os.MkdirTemp("", "slurm") // munged's socket needs a short name and no writable folder above it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	conf := filepath.Join(dir, "slurm.conf")
	s := &slurm{t: t, dir: dir, env: append(os.Environ(), "SLURM_CONF="+conf)}
	ports := testenv.FreePorts(t, 2)
	text := strings.NewReplacer("DIR", dir, "HOST", host, "PORT1", fmt.Sprint(ports[0]), "PORT2",
		fmt.Sprint(ports[1])).Replace(slurmConf + nodes + slurmPartition)
	for name, data := range more {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range map[string][]byte{
		conf: []byte(text), filepath.Join(dir, "key"): bytes.Repeat([]byte("k"), 1024),
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"state", "spool"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	s.start("munged", "--foreground", "--force", "--socket="+at("munge"), "--key-file="+at("key"), "--pid-file="+
		at("munged.pid"),
		"--log-file="+at("munged.log"), "--seed-file="+at("seed"))
	s.until("munged to listen", func() bool { _, err := os.Stat(at("munge")); return err == nil })
	s.start("slurmctld", "-D", "-f", conf)
	return s
}

const slurmConf = `ClusterName=test
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=PORT1
SlurmdPort=PORT2
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
StateSaveLocation=DIR/state
SlurmdSpoolDir=DIR/spool
SlurmctldPidFile=DIR/slurmctld.pid
SlurmdPidFile=DIR/slurmd.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdLogFile=DIR/slurmd.log
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=1,sched_interval=1
`

const slurmPartition = `PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

func (s *slurm) command(name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(s.t.Context(), testenv.Tool(s.t, name), args...)
	c.Env = s.env
	return c
}

// start starts a daemon that ends with the test.
func (s *slurm) start(name string, args ...string) {
	s.t.Helper()
	c := exec.Command(testenv.Tool(s.t, name), args...)
	c.Env = s.env
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = append(s.ended, ended)
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	s.t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = c.Process.Kill()
			<-ended
		}
	})
}

func (s *slurm) run(name string, args ...string) string {
	s.t.Helper()
	out, err := s.command(name, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func (s *slurm) until(what string, there func() bool) {
	s.t.Helper()
	for end := time.Now().Add(5 * time.Minute); !there(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) || slices.ContainsFunc(s.ended, isClosed) {
			for _, name := range []string{"slurmctld", "slurmd", "munged"} {
				log, _ := os.ReadFile(filepath.Join(s.dir, name+".log"))
				s.t.Logf("%s: %.3000s", name, log)
			}
			s.t.Fatalf("waited for %s", what)
		}
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
