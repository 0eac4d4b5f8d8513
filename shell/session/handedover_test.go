// SPDX-License-Identifier: Apache-2.0

package session_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/sessiontest"
	"example.org/ibconsole/shell/session/source"
)

// losing is a transport that loses packets of both directions.
type losing struct {
	mad.Transport
	share float64
	mu    sync.Mutex
	rnd   *rand.Rand
}

func (l *losing) lost() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rnd.Float64() < l.share
}

func (l *losing) Send(f *mad.Frame) error {
	if l.lost() {
		return nil
	}
	return l.Transport.Send(f)
}

func (l *losing) Recv(f *mad.Frame) error {
	for {
		if err := l.Transport.Recv(f); err != nil || !l.lost() {
			return err
		}
	}
}

// manager is an OpenSM on a node.
type manager struct {
	sim *ibsimtest.Sim
	cmd *exec.Cmd
	log string
}

func startManager(t *testing.T, sim *ibsimtest.Sim, node, conf string) *manager {
	t.Helper()
	dir := t.TempDir()
	m := &manager{sim: sim, log: filepath.Join(dir, "log")}
	conf += "force_log_flush TRUE\nsminfo_polling_timeout 300\npolling_retry_number 2\n"
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	m.cmd = sim.Command(context.Background(), "opensm", "-F", filepath.Join(dir, "conf"), "-f", m.log, "-D", "0x43")
	m.cmd.Dir = dir
	m.cmd.Env = append(m.cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir, "SIM_HOST="+node)
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.end(syscall.SIGKILL) })
	return m
}

// end ends it and frees its place, which a killed client of ibsim keeps, and of which there are ten.
func (m *manager) end(how syscall.Signal) {
	if m.cmd.ProcessState != nil {
		return
	}
	_ = m.cmd.Process.Signal(how)
	kill := time.AfterFunc(5*time.Second, func() { _ = m.cmd.Process.Kill() }) // it hangs now and then
	defer kill.Stop()
	_ = m.cmd.Wait()
	place := regexp.MustCompile(fmt.Sprintf(`Client (\d+): pid %d\b`, m.cmd.Process.Pid))
	if found := place.FindStringSubmatch(m.sim.Console("Attached")); found != nil {
		m.sim.Console("X " + found[1])
	}
}

// said waits until the log has a text so many times. OpenSM hangs now and then where another one leaves.
func (m *manager) said(text string, times int) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if log, _ := os.ReadFile(m.log); strings.Count(string(log), text) >= times {
			return true
		}
	}
	return false
}

// entry is one of a forwarding table.
type entry struct {
	guid uint64
	lid  uint16
}

// tablesAtRest is what dump_fts reads from the switches, in agreement with itself.
func tablesAtRest(t *testing.T, sim *ibsimtest.Sim) map[entry]uint8 {
	t.Helper()
	var before map[entry]uint8
	for range 100 {
		now := map[entry]uint8{}
		var guid uint64
		for line := range strings.Lines(sim.Output("dump_fts")) {
			if _, after, ok := strings.Cut(line, " guid 0x"); ok {
				guid, _ = strconv.ParseUint(after[:16], 16, 64)
			}
			if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(line, "0x") {
				lid, err := strconv.ParseUint(words[0], 0, 16)
				port, err2 := strconv.ParseUint(words[1], 10, 8)
				if err != nil || err2 != nil {
					t.Fatalf("dump_fts says %q", line)
				}
				now[entry{guid, uint16(lid)}] = uint8(port)
			}
		}
		if maps.Equal(before, now) && len(now) > 0 {
			return now
		}
		before = now
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the tables do not come to rest")
	return nil
}

// differs returns an entry of the live state that is in none of the tables, "" for none. Unread switches do not count.
func differs(st *session.State, of ...map[entry]uint8) string {
	p := st.Live
	for sw := range p.Fabric.NumSwitches() {
		guid := p.Fabric.SwitchNode(sw).GUID
		for lid := uint16(1); lid <= p.Fabric.MaxLID; lid++ {
			is, fits := p.Tables.Port(sw, lid), len(st.Unanswered) > 0 && p.Tables.Port(sw, lid) == 255
			for _, table := range of {
				port, known := table[entry{guid, lid}]
				fits = fits || port == is && known || !known && is == 255
			}
			if !fits {
				return fmt.Sprintf("switch 0x%x, LID %d: port %d", guid, lid, is)
			}
		}
	}
	return ""
}

// TestHandedOver watches a subnet while 10 % of its packets are lost each way, and while of two OpenSMs, which route
// otherwise, the master is ended or killed, the other one takes over, and the first comes back: at rest the live
// picture has what dump_fts reads, and while tables change no entry that neither the one nor the other wrote.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	rnd := testenv.Rand(t)
	sim := sessiontest.Ibsim(t, "sim:fattree:2,8")
	const firstConf, first, second = "sm_priority 10\nport_shifting TRUE\n", "H-000000000010003e", "H-000000000010003c"
	a := startManager(t, sim, first, firstConf)
	if !a.said("SUBNET UP", 1) {
		log, _ := os.ReadFile(a.log)
		t.Fatalf("no subnet: %s", log)
	}
	b := startManager(t, sim, second, "sm_priority 5\n")
	b.said("ENTERING STANDBY", 1)
	truth := tablesAtRest(t, sim)
	known := []map[entry]uint8{truth} // all that was at rest: what the one wrote and what the other

	ask := mad.Fast()
	ask.Timeout = 20 * time.Millisecond
	s, err := session.Open(t.Context(), source.Source{Kind: source.Ibsim}, session.Options{
		Client: ask, Later: true, Dial: func(context.Context) (mad.Transport, error) {
			conn, err := ibsim.Dial(context.Background(), ibsim.Options{Name: sim.Name, Node: "H-0000000000100000"})
			return &losing{Transport: conn, share: 0.1, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0))}, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepCurrent(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	pictures, rounds, ups, after := 0, 0, 0, testenv.Count(t, 2, 5)
	came := make(chan session.State, 1<<16)
	var collecting sync.WaitGroup
	t.Cleanup(collecting.Wait)
	collecting.Go(func() {
		for last := (*session.Picture)(nil); t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
			if st := s.State(); st.Live != last && st.Live.Tables != nil {
				last = st.Live
				came <- st
			}
		}
	})
	// look judges all pictures since the last time, until some are made when the tables are at rest and like these.
	look := func() {
		t.Helper()
		truth = tablesAtRest(t, sim)
		if !slices.ContainsFunc(known, func(of map[entry]uint8) bool { return maps.Equal(of, truth) }) {
			known = append(known, truth)
		}
		rest, limit := time.Now(), time.After(time.Minute)
		for right := 0; right < after; pictures++ {
			var st session.State
			select {
			case st = <-came:
			case <-limit:
				st = s.State()
				t.Fatalf("round %d: the picture does not become what dump_fts reads: %s; unanswered %q, %s", rounds,
					differs(&st, truth), st.Unanswered, st.Lost)
			}
			wrong := differs(&st, truth)
			switch {
			case differs(&st, known...) != "":
				t.Fatalf("round %d: a state has an entry that no OpenSM wrote: %s", rounds, differs(&st, known...))
			case st.Live.When.Before(rest):
			case wrong == "":
				right++
			case right > 0:
				t.Fatalf("round %d: at rest a picture goes back: %s", rounds, wrong)
			}
		}
	}
	look()
	length := testenv.Length(t, 0, time.Hour)
	// hung counts the OpenSMs that hang, as sometimes happens when another one ends: both are started again.
	hung := 0
	anew := func() {
		t.Helper()
		hung++
		a.end(syscall.SIGKILL)
		b.end(syscall.SIGKILL)
		if a = startManager(t, sim, first, firstConf); !a.said("SUBNET UP", 1) {
			t.Fatal("no subnet")
		}
		b, ups = startManager(t, sim, second, "sm_priority 5\n"), 0
		b.said("ENTERING STANDBY", 1)
		look()
	}
	for end := time.Now().Add(length); rounds == 0 || time.Now().Before(end); rounds++ {
		ups++
		a.end([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[rounds%2])
		if !b.said("Entering MASTER", ups) || !b.said("SUBNET UP", ups) {
			anew()
			continue
		}
		look()
		before := truth
		if a = startManager(t, sim, first, firstConf); !a.said("Entering MASTER", 1) || !a.said("SUBNET UP", 1) {
			anew()
			continue
		}
		look()
		if maps.Equal(before, truth) {
			t.Error("both route alike")
		}
	}
	if len(known) != 2 {
		t.Errorf("two OpenSMs wrote %d different tables", len(known))
	}
	t.Logf("%d pictures in %d rounds of two handovers, %d of them broken off by an OpenSM that hung", pictures,
		rounds, hung)
}
