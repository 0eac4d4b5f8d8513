// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/history"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// actor is a program that is started again whenever it ends, and is killed at the end of a round.
type actor struct {
	name  string
	draw  func(*rand.Rand) []string // the arguments of the next program
	fails bool                      // it may fail, because another console writes or a commit is interrupted
}

var killedEngines = []string{"minhop", "minhop port_shifting=TRUE", "minhop scatter_ports=3", "dor", "updn", "sssp"}

// killedActors are two consoles that commit, a recorder, and a console that reads what the others store.
var killedActors = []actor{
	{"writer 1", drawWrites, true}, {"writer 2", drawWrites, true},
	{"recorder", func(*rand.Rand) []string {
		return []string{"--window", "4", "record", "every=0.1", "sweep=0.1", "traffic=0.2"}
	}, false},
	{"reader", func(r *rand.Rand) []string {
		return []string{"--window", "4", "-c", []string{
			"history; changes since=1h; problems", "problems since=1h; counters worst; record status",
			"sweep full; history show 2; check reach of=live", "report morning since=1h; flaps",
		}[r.IntN(4)]}
	}, false},
}

// drawWrites returns commands that write.
func drawWrites(r *rand.Rand) []string {
	commands := "write on; "
	switch r.IntN(8) {
	case 0:
		commands += "rollback yes"
	case 1, 2:
		commands += "commit resume yes"
	case 3:
		commands += drawCommit(r) + " abandon"
	default:
		for range 4 {
			commands += drawCommit(r) + "; "
		}
	}
	return []string{"--window", "1", "-c", commands} // few packets at a time, so that many kills occur in a commit
}

func drawCommit(r *rand.Rand) string {
	return "engine " + killedEngines[r.IntN(len(killedEngines))] + "; route; commit yes force-interrupt force-loop"
}

// slaughter is a subnet of ibsim, with the history that its consoles share.
type slaughter struct {
	t       *testing.T
	r       *rand.Rand
	sim     *ibsimtest.Sim
	dumpFTS tool
	home    string
	store   *history.Store
	entries map[int64]history.Entry // as the history listed them after earlier rounds
	journal int64                   // the newest commit that was checked
	held    held                    // the tables after the previous round
	last    recordStatus
	round   int
	count   struct{ Programs, Killed, Refused, Commits, Interrupted, Entries int }
}

// TestKilledConsoles kills two consoles that commit, a recorder and a reader, which share a history, at random times.
// After each round the history is intact and has all entries, the journal explains the tables of the switches, and a
// new console can finish an interrupted commit, or commit.
func TestKilledConsoles(t *testing.T) {
	testenv.Tool(t, "dump_fts")
	length := testenv.Length(t, 4*time.Second, time.Hour)
	s := &slaughter{t: t, r: testenv.Rand(t), home: stateHome(t), entries: map[int64]history.Entry{}}
	net := filepath.Join(t.TempDir(), "net")
	ibconsole(t, "-c", "gen fattree 2 12 "+net)
	s.sim = ibsimtest.Start(t, net)
	s.dumpFTS = newTool(t, s.sim, "dump_fts")
	ibconsole(t, s.args("-c", "engine minhop; route; write on; commit yes; "+
		"record start every=0.1 sweep=0.1 traffic=0.2; watch 0.2 for=1")...)
	var err error
	if s.store, err = history.OpenFile(t.Context(), filepath.Join(s.home, "ibconsole", history.FileName)); err != nil {
		t.Fatal(err)
	}
	defer s.store.Close()
	s.held = s.tables()
	s.newCommits()
	for begun := time.Now(); time.Since(begun) < length; {
		s.round++
		s.play()
		s.judge()
	}
	if _, err := historyIn(t, filepath.Join(s.home, "ibconsole", history.FileName)); err != nil {
		t.Error(err)
	}
	t.Logf("%d rounds: %+v", s.round, s.count)
}

// args adds the subnet to arguments.
func (s *slaughter) args(args ...string) []string {
	return append([]string{"--json", "-s", "ibsim:" + s.sim.Name}, args...)
}

// run is a program of an actor that has ended.
type run struct {
	args     []string
	out, err string
	killed   bool
	status   int
}

// play lets the actors act until each is killed.
func (s *slaughter) play() {
	var all sync.WaitGroup
	runs := make([][]run, len(killedActors))
	for i, a := range killedActors {
		// Sources of random numbers are not safe for concurrent use.
		r, life := rand.New(rand.NewPCG(s.r.Uint64(), 0)), time.Duration(s.r.Int64N(int64(1500*time.Millisecond)))
		inCommit := a.fails && s.r.IntN(2) == 0
		all.Go(func() {
			ctx, cancel := context.WithTimeout(s.t.Context(), life)
			defer cancel()
			if inCommit {
				all.Go(func() { s.awaitCommit(ctx); time.Sleep(life % longestCommit); cancel() })
			}
			for ctx.Err() == nil {
				runs[i] = append(runs[i], s.runOf(ctx, a.draw(r)))
			}
		})
	}
	all.Wait()
	detach(s.sim)
	for i, a := range killedActors {
		for _, x := range runs[i] {
			s.judgeRun(a, x)
		}
	}
}

// awaitCommit waits until a commit begins or the context ends.
func (s *slaughter) awaitCommit(ctx context.Context) {
	newest := func() int64 {
		var id int64
		if all, err := s.store.Journal(ctx, ""); err == nil && len(all) > 0 {
			id = all[0].ID
		}
		return id
	}
	for before := newest(); ctx.Err() == nil && newest() == before; {
		time.Sleep(time.Millisecond)
	}
}

// runOf runs a program until it ends or the context kills it.
func (s *slaughter) runOf(ctx context.Context, args []string) run {
	x := run{args: s.args(args...)}
	cmd := exec.CommandContext(ctx, program, x.args...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		x.err, x.killed = err.Error(), ctx.Err() != nil
		return x
	}
	_ = cmd.Wait()
	x.out, x.err, x.status = out.String(), said.String(), cmd.ProcessState.ExitCode()
	x.killed = x.status < 0
	return x
}

// judgeRun checks the output of a program: it fails only for reasons that other consoles explain, and each commit that
// it reports as written is in the journal.
func (s *slaughter) judgeRun(a actor, x run) {
	s.t.Helper()
	s.count.Programs++
	switch {
	case x.killed:
		s.count.Killed++
	case x.status != exitDone:
		s.count.Refused++
	}
	text := strings.ToLower(x.err)
	for _, bad := range []string{"panic", "goroutine ", "malformed", "damaged", "another ibconsole records"} {
		if strings.Contains(text, bad) {
			s.wrong("%s: %q: %s", a.name, x.args, x.err)
		}
	}
	// Killed programs hold their places at ibsim until the end of the round.
	if !a.fails && !x.killed && x.status != exitDone && !strings.Contains(x.err, "ten clients") {
		s.wrong("%s: %q: exit status %d, %s", a.name, x.args, x.status, x.err)
	}
	for line := range strings.Lines(x.out) {
		var commit struct {
			Written bool
			History int64
		}
		if json.Unmarshal([]byte(line), &commit) != nil || !commit.Written {
			continue
		}
		all, err := s.store.Journal(s.t.Context(), "")
		i := slices.IndexFunc(all, func(j history.JournalEntry) bool { return j.After == commit.History })
		if err != nil || i < 0 || all[i].Outcome.Open() || all[i].Outcome == history.NothingWritten {
			s.wrong("%s reports commit %d as written, but the journal has %+v, %v", a.name, commit.History,
				all[:min(len(all), 5)], err)
		}
	}
}

func (s *slaughter) wrong(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("round %d: %s", s.round, fmt.Sprintf(format, args...))
}

func (s *slaughter) tables() held {
	s.t.Helper()
	var h held
	err := retry(func() (err error) { h, err = s.dumpFTS.tables(s.t.Context()); return err })
	if err != nil {
		s.wrong("%v", err)
	}
	return h
}

// judge checks the files, the journal and the switches, and commits with a new console.
func (s *slaughter) judge() {
	s.t.Helper()
	ctx, dir := s.t.Context(), filepath.Join(s.home, "ibconsole")
	for _, name := range []string{history.FileName, records.FileName} {
		if err := integrity(ctx, filepath.Join(dir, name)); err != nil {
			s.wrong("%s: %v", name, err)
		}
	}
	s.judgeEntries()
	s.judgeTables()
	s.judgeRecord()
	sum := s.ask("summary").Interrupted
	commands := drawCommit(s.r)
	if sum != "" {
		s.count.Interrupted++
		commands = []string{"commit resume yes", "rollback yes"}[s.r.IntN(2)]
	}
	if x := try(s.args("-c", "write on; "+commands)...); x.status != exitDone {
		s.wrong("%s, in a new console: %s", commands, x.err)
	}
	if left := s.ask("summary").Interrupted; left != "" {
		s.wrong("after %s: %s", commands, left)
	}
	s.judgeTables()
}

// ask returns the summary that a new console prints.
func (s *slaughter) ask(command string) (a struct{ Interrupted string }) {
	s.t.Helper()
	x := try(s.args("-c", command)...)
	if err := json.Unmarshal([]byte(lastLine(x.out)), &a); err != nil || x.status != exitDone {
		s.wrong("%s: %d, %s, %v", command, x.status, x.err, err)
	}
	return a
}

// judgeEntries checks that the history still has each entry that it had, and that new ones can be read.
func (s *slaughter) judgeEntries() {
	s.t.Helper()
	list, err := s.store.List(s.t.Context(), "", 0)
	if err != nil {
		s.wrong("%v", err)
	}
	kept := 0
	for _, e := range list {
		old, known := s.entries[e.ID]
		switch {
		case !known:
			if _, err := s.store.Load(s.t.Context(), e.ID); err != nil {
				s.wrong("%v", err)
			}
		case old.Kind != e.Kind || !old.Began.Equal(e.Began) || old.Note != e.Note || e.Until.Before(old.Until):
			s.wrong("entry %d was %+v, and is %+v", e.ID, old, e)
		default:
			kept++
		}
	}
	if kept != len(s.entries) {
		s.wrong("of %d entries, %d are left", len(s.entries), kept)
	}
	for _, e := range list {
		s.entries[e.ID] = e
	}
	s.count.Entries = len(list)
}

// newCommits returns the commits since the last call, the oldest first.
func (s *slaughter) newCommits() (list []history.JournalEntry) {
	s.t.Helper()
	all, err := s.store.Journal(s.t.Context(), "")
	if err != nil {
		s.wrong("%v", err)
	}
	for _, j := range slices.Backward(all) {
		if j.ID > s.journal {
			s.journal, list = j.ID, append(list, j)
		}
	}
	return list
}

// judgeTables checks that the switches hold the tables of the last commit, or, of one that was interrupted, entries of
// the tables before and after it. All commits share a lock.
func (s *slaughter) judgeTables() {
	s.t.Helper()
	may, said := []held{s.held}, ""
	for _, j := range s.newCommits() {
		said += fmt.Sprintf("\ncommit %d: %s, from %d to %d, completes %d", j.ID, j.Outcome.Word(), j.Before, j.After,
			j.Completes)
		s.count.Commits++
		if j.Outcome == history.NothingWritten {
			continue
		}
		entry, err := s.store.Load(s.t.Context(), j.After)
		if err != nil {
			s.wrong("%v", err)
		}
		if may = append(may, heldOf(entry.Tables)); j.Outcome == history.Done {
			may = may[len(may)-1:]
		}
	}
	now := s.tables()
	if found := now.notIn(may...); len(found) > 0 {
		s.wrong("the switches have entries that no commit wrote, %s%s", few(found), said)
	}
	s.held = now
}

// judgeRecord checks that the record still begins and ends where it did, or later.
func (s *slaughter) judgeRecord() {
	s.t.Helper()
	x := try(s.args("-c", "record status")...)
	var now recordStatus
	if err := json.Unmarshal([]byte(x.out), &now); err != nil || x.status != exitDone {
		s.wrong("record status: %d, %s, %v", x.status, x.err, err)
	}
	if now.Elsewhere || !s.last.Since.IsZero() && !now.Since.Equal(s.last.Since) || now.Until.Before(s.last.Until) {
		s.wrong("the record is %+v, and was %+v", now, s.last)
	}
	s.last = now
}
