// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/umad/umadtest"
	"example.org/ibconsole/shell"
	answers "example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// The keys of a subnet. None contains bytes of another one, and none occurs in a LID or GUID by chance.
const (
	theMKey  = 0x0123456789abcdef
	theSMKey = 0x1f2e3d4c5b6a7988
	theSAKey = 0x99aabbccddeeff01
)

// keyed is an ibsim with a master OpenSM that has set these keys in its subnet, and the file of keys.
func keyed(t *testing.T) (sim *ibsimtest.Sim, keys string) {
	t.Helper()
	dir := t.TempDir()
	net, conf, keys := filepath.Join(dir, "net"), filepath.Join(dir, "conf"), filepath.Join(dir, "keys")
	ibconsole(t, "-c", "gen fattree 2 4 "+net)
	settings := fmt.Sprintf("m_key %#016x\nm_key_protection_level 2\nsm_key %#x\nsa_key %#x\nforce_log_flush TRUE\n",
		uint64(theMKey), uint64(theSMKey), uint64(theSAKey))
	for file, text := range map[string]string{
		conf: settings, keys: fmt.Sprintf("m_key %#016x\nsa_key %#x\n", uint64(theMKey), uint64(theSAKey)),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sim = ibsimtest.Start(t, net)
	ibsimtest.Master(t, sim, "-F", conf)
	return sim, keys
}

// writes are commands that cover all commands of the program with output or writes. D is a folder. They run in order on
// a subnet with a master, and may fail.
const writes = `capture D/cap.pcap
sources; sources now; sources differ; source; on all summary
sweep full mft; sweep full sl; sweep full vlarb; sweep full pkeys; sweep full sl2vl
summary; names D/nothing; set sm node-0001; watch 60; doctor; clear counters leaf-01; problems counters; problems all
baseline save D/base.snap; baseline load D/base.snap; baseline show; baseline forget
compare engines minhop updn; balance switch leaf-01; balance lid leaf-01; balance hot
engines; engine minhop; calibrate; fail link leaf-01 3; route
report text D/r.txt; report markdown D/r.md; report csv D/r.csv; report json D/r.json; report dot D/r.dot
report slurm-conf D/r.conf
report slurm-yaml D/r.yaml; report html D/r.html; report svg D/r.svg
sa path node-0001 all; sa nodes; sa groups; sa groups key=0x99aabbccddeeff01; sa groups key=0x99aabbccddeeff0z
sa groups key=0x1
show nodes; show switches; show structure; hints D/nothing; hints off; show links
show where node-0001; show ports leaf-01
show ports node-0001; show lft leaf-01; show roots; show ranks; show sms
show counters leaf-01; show sl2vl leaf-01; show vlarb leaf-01; show sl node-0001 all; show torus; show mft leaf-01
show transition
show failures; show states
show groups; show targets; show unanswered; show events; show cables; inventory
inventory leaf-01; ibdiagnet diff D/nothing D/nothing; run D/nothing
trace node-0001 node-0008; trace live node-0001 node-0008; check; check reach; check loops; check credits
check mcast; check load; check partitions D/nothing; who uses leaf-01 1
dump lfts D/lfts; dump fdbs D/fdbs; dump subnet D/subnet; dump topology D/topology; dump lid-matrix D/matrix
dump guid2lid D/guid2lid
dump ca-order D/order; dump sl2vl D/sl2vl; dump sls D/sls; dump routing D/routing; dump mcfdbs D/mcfdbs
dump groups D/groups; dump paths D/dpaths
dump ibdiagnet D/ibdiagnet; dump snapshot D/snap; dump cabling D/plan; check cabling D/plan; dump guided
write on; commit; commit yes sm=0x100001 force-loop; history; history show 1; load history 1; history export D/history
history import D/history; history keep days=400
rollback; rollback yes sm=0x100001 force-loop; changes since=1d; ack; flaps; forecast; counters top
report incident D/incident.tar.gz; history prune days=400; diff live staged
trace all node-0001 save=D/traces; diff traces D/traces live
load lfts D/lfts; load fdbs D/fdbs; load subnet D/subnet; load topology D/topology; load lid-matrix D/matrix
load guid2lid D/guid2lid; load sl2vl D/sl2vl
load sls D/sls; load routing D/routing; load mcfdbs D/mcfdbs; load groups D/groups; load paths D/dpaths
load snapshot D/snap; load guided
gen fattree 2 4 D/g1; gen xgft 1 2 1 D/g2; gen torus 3 3 D/g3; gen mesh 3 3 D/g4; gen hypercube 3 D/g5
gen dragonfly 4 2 2 D/g6; gen bull 1 D/g7; gen plan fattree 2 4 D/g13
gen random 4 3 4 D/g8; gen railtree 4 D/g9; gen multiplane 2 2 1 D/g10; gen director 2 2 D/g11; gen dfplus 3 2 2 D/g12
adaptive on; adaptive show; adaptive off; route; paths build D/paths; paths info D/paths
paths query node-0001 all file=D/paths; paths verify live; paths build D/paths2 sa
paths delta D/paths D/paths2 D/delta
paths apply D/paths D/delta; paths alternate node-0001 node-0008; paths follow D/follow deltas=D; paths follow off
paths acm D/acm for=node-0001; paths digest D/acm; paths connections D/paths D/paths2
hosts; hosts job node-0001 node-0002; jobs on leaf-01 1; doctor verify traces=5; restore all; add switch new leaf-01/4
add node another leaf-01/4; add link leaf-01/4 leaf-02/4; move node node-0001 leaf-02/4; fail switch spine-01
fail node node-0002; fail director spine*; fail random 1; fail guided; restore link leaf-01 3
restore switch spine-01; restore node node-0002; undo
port disable leaf-01/4; port enable leaf-01/4; port reset leaf-01/4; port speed leaf-01/4 all
port width leaf-01/4 all; restore all; drain link leaf-01 4; restore all; drain switch spine-01; restore all
drain host node-0002; undrain link leaf-01 4; undrain switch spine-01; undrain host node-0002
whatif; restore all; route; handover D/handover; resilience links; resilience switches to=D/report; resilience pairs
resilience merge D/report
record start every=0.2 traffic=0.2; record status; record alerts; record keep; check load measured; counters worst
counters history leaf-01/1; report morning D/morning; job 1 hosts=node-0001; congestion; why job since=10m; record stop
resilience sbatch D/sbatch shards=2; suggest guids D/guids; suggest torus D/torus.conf; unstage; help
help sa groups; watch off; capture off; exit; quit`

// TestKeysAreKept runs every command, as text and as JSON, on a subnet whose OpenSM has set an M_Key, an SM_Key and an
// SA_Key, and searches for these byte for byte in all output: answers, errors, files, captures, journal.
func TestKeysAreKept(t *testing.T) {
	t.Parallel() // subnet administration does not respond to a wrong key
	sim, _ := keyed(t)
	onWire(t, sim)
	for _, json := range []bool{false, true} {
		dir := t.TempDir()
		src, err := source.Parse("ibsim:" + sim.Name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(t.Context(), src, session.Options{Keys: source.Keys{M: theMKey, SA: theSAKey},
			StateDir: dir, Record: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		sh := shell.New(s)
		lines := strings.FieldsFunc(strings.ReplaceAll(writes, "D/", dir+"/"), func(r rune) bool {
			return r == ';' || r == '\n'
		})
		for i := range lines {
			lines[i] = strings.TrimSpace(lines[i])
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := sh.Run(ctx, "writes", lines[i], &shell.Output{
				W: &out, Notes: &out, Form: prose.When(json, answers.FormJSON, answers.FormText),
			})
			cancel()
			if err != nil {
				t.Logf("%s: %v", lines[i], err)
			}
			expectNoKey(t, lines[i], fmt.Append(out.Bytes(), err))
		}
		everyCommand(t, "", sh.Specs(), lines)
		st := s.State()
		expectNoKey(t, "what the session says", fmt.Append(nil, st.Warnings, st.Lost, st.Interrupted))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		expectNoKeyIn(t, dir)
	}
}

// onWire checks that responses contain a key: OpenSM sends its SM_Key. ibsim keeps no M_Keys, which occur here only in
// requests. shell/session has a test where responses contain them.
func onWire(t *testing.T, sim *ibsimtest.Sim) {
	t.Helper()
	tr, err := ibsim.Dial(t.Context(), ibsim.Options{Name: sim.Name})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mad.NewClient(tr, mad.ClientOptions{MKey: theMKey})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if info, err := c.SMInfo(t.Context(), mad.Path{}); err != nil || info.SMKey != theSMKey {
		t.Fatalf("the subnet manager has the SM_Key %#x, %v", info.SMKey, err)
	}
}

// everyCommand checks that each command is used.
func everyCommand(t *testing.T, before string, specs []shell.Spec, lines []string) {
	t.Helper()
	for i := range specs {
		name := before + specs[i].Name
		used := specs[i].Run == nil
		for _, line := range lines {
			used = used || line == name || strings.HasPrefix(line, name+" ")
		}
		if !used {
			t.Errorf("no key is searched for in the output of %s", name)
		}
		everyCommand(t, name+" ", specs[i].Subcommands, lines)
	}
}

// expectNoKeyIn searches all files of a folder, including compressed data.
func expectNoKeyIn(t *testing.T, dir string) {
	t.Helper()
	files, packed := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		expectNoKey(t, path, b)
		for frame := range frames(b) {
			packed++
			expectNoKey(t, path+", unpacked", frame)
		}
		return nil
	})
	if err != nil || files < 40 || packed < 10 {
		t.Errorf("%d files, %d packed parts: %v", files, packed, err)
	}
}

// TestKeysOverUmad checks that the program prints and writes no key over the devices of an adapter.
func TestKeysOverUmad(t *testing.T) {
	sim, keys := keyed(t)
	run := umadtest.Devices(t, sim.Name)
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	out := run(program, "--mkeys", keys, "-s", "umad", "-c", "capture "+dir+
		"/cap; sweep full sl; sa groups; show sms; fail link leaf-01 3; route; write on; "+
		"commit yes sm=0x100001; rollback yes sm=0x100001; dump snapshot "+dir+"/snap; doctor; history export "+dir+
		"/history; capture off")
	if strings.Contains(out, "did not respond with this SA_Key") ||
		!strings.Contains(out, "taken from the subnet administration") {
		t.Errorf("the SA_Key of the file is not used: %s", out)
	}
	expectNoKey(t, "output", []byte(out))
	expectNoKey(t, "capture", mustRead(t, filepath.Join(dir, "cap")))
	for _, name := range []string{"snap", "history"} {
		b := mustRead(t, filepath.Join(dir, name))
		for frame := range frames(b) {
			expectNoKey(t, name, frame)
		}
		expectNoKey(t, name, b)
	}
}

// dumping is the program, of which the kernel writes a core dump when it is aborted.
func dumping(t *testing.T, args ...string) *exec.Cmd {
	args = append([]string{"-c", `ulimit -c unlimited; exec "$@"`, "sh", program}, args...)
	cmd := exec.CommandContext(t.Context(), "sh", args...)
	cmd.Env = append(os.Environ(), "GOTRACEBACK=crash", "XDG_STATE_HOME="+t.TempDir())
	cmd.Dir = t.TempDir()
	return cmd
}

// TestNoCoreWithKeys aborts the program with and without keys. Only without keys there is a core dump.
func TestNoCoreWithKeys(t *testing.T) {
	if !testenv.Full() {
		t.Skip("an aborted Go program takes ten seconds to print its stacks; IBCONSOLE_FULL=1 runs it")
	}
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("0x0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"--mkeys", keys}} {
		cmd := dumping(t, append([]string{"-s", "sim:fattree:2,4", "run", "-"}, args...)...)
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		said := &waiting{until: []byte("subnet"), come: make(chan struct{})}
		cmd.Stdout = said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write([]byte("summary\n"))
		select {
		case <-said.come:
		case <-time.After(time.Minute):
			t.Fatalf("%q: no summary: %s", args, said.all)
		}
		_ = cmd.Process.Signal(sigABRT)
		exit, failed := errors.AsType[*exec.ExitError](cmd.Wait())
		switch {
		case !failed:
			t.Fatalf("%q: not aborted", args)
		case args == nil && !dumped(exit):
			t.Skip("the kernel writes no core dumps here")
		case args != nil && dumped(exit):
			t.Errorf("%q: there is a core dump", args)
		}
	}
}

// TestKeysInProcess checks that others cannot read a key from a running program or from the remains of an aborted one.
func TestKeysInProcess(t *testing.T) {
	t.Parallel() // a Go program with many threads takes seconds to print its stacks
	sim, keys := keyed(t)
	cmd := dumping(t, "--mkeys", keys, "-s", "ibsim:"+sim.Name, "run", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &waiting{until: []byte("taken from the subnet administration"), come: make(chan struct{})}
	var trace bytes.Buffer
	cmd.Stdout, cmd.Stderr = said, &trace
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("watch 60\nsa groups\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-said.come:
	case <-time.After(time.Minute):
		t.Errorf("no groups came: %s", &trace)
	}
	proc := fmt.Sprintf("/proc/%d/", cmd.Process.Pid)
	for _, name := range []string{"cmdline", "environ"} {
		expectNoKey(t, name, mustRead(t, proc+name))
	}
	if children := mustRead(t, proc+fmt.Sprintf("task/%d/children", cmd.Process.Pid)); len(children) > 0 {
		t.Errorf("it has started %s", children)
	}
	_ = cmd.Process.Signal(sigABRT)
	err = cmd.Wait()
	exit, failed := errors.AsType[*exec.ExitError](err)
	if !failed || !strings.Contains(trace.String(), "goroutine") {
		t.Fatalf("%v, %s", err, &trace)
	}
	if dumped(exit) {
		t.Error("there is a core dump")
	}
	expectNoKey(t, "trace", trace.Bytes())
	left, err := os.ReadDir(cmd.Dir)
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}
