// SPDX-License-Identifier: Apache-2.0

package pathrecords

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/simtest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/paths"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

// bench is a session on a simulated subnet.
type bench struct {
	*session.Session
	*simtest.Subnet
	t *testing.T
	r *rand.Rand
}

func newBench(t *testing.T, spec string) *bench {
	t.Helper()
	b := &bench{Subnet: simtest.New(t, spec, nil), t: t, r: testenv.Rand(t)}
	conn := b.Open(t)
	s, err := session.Open(t.Context(), source.Source{Kind: source.Ibsim}, session.Options{
		StateDir: t.TempDir(), Dial: func(context.Context) (mad.Transport, error) { return conn, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b.Session = s
	b.sweep()
	return b
}

// host returns the port of a random host, except the session's own.
func (b *bench) host() fabric.PortIndex {
	for {
		e := b.Fabric.EndPorts[b.r.IntN(len(b.Fabric.EndPorts))]
		if e != b.Master && !b.Fabric.Nodes[b.Fabric.Ports[e].Node].IsSwitch() {
			return e
		}
	}
}

func (b *bench) sweep() {
	b.t.Helper()
	if _, err := b.Sweep(context.Background()); err != nil {
		b.t.Fatal(err)
	}
}

// followed waits until the live tables satisfy accept and the file has their paths, and returns the tables.
func (b *bench) followed(file string, accept func(t *fabric.Tables) bool) *fabric.Tables {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		t := b.State().Live.Tables
		if !accept(t) {
			continue
		}
		db, err := pathdb.Open(b.t.Context(), file)
		if err != nil {
			b.t.Fatal(err)
		}
		why := compareAll(db.View(), t)
		if err := db.Close(); err != nil {
			b.t.Fatal(err)
		}
		if why == nil {
			return t
		}
	}
	b.t.Fatalf("%s does not reach the live state; events: %v", file, b.State().Events)
	return nil
}

// compareAll returns the first difference between a database and tables, nil if they agree for all pairs.
func compareAll(v *pathdb.View, t *fabric.Tables) error {
	f := t.Fabric
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			if f.Ports[src].LID == 0 || f.Ports[dst].LID == 0 {
				continue
			}
			if err := paths.Compare(v, t, src, f.Ports[dst].LID); err != nil {
				return fmt.Errorf("%s to %s: %w", f.PortName(src), f.PortName(dst), err)
			}
		}
	}
	return nil
}

// setEntry writes an entry of a forwarding table without the session.
func (b *bench) setEntry(sw fabric.SwitchIndex, lid uint16, entry uint8) {
	b.t.Helper()
	f := b.State().Live.Fabric
	path, err := sweep.NewRoutes(f).ToNode(f.NodeByGUID(b.Fabric.SwitchNode(sw).GUID))
	if err != nil {
		b.t.Fatal(err)
	}
	b.LFT.Row(sw)[lid] = entry
	block := mad.LinearForwardingTable(b.LFT.Block(sw, int(lid)/fabric.BlockSize))
	_, err = mad.Set(b.t.Context(), b.Connection().Client(), path, uint32(lid/fabric.BlockSize), block)
	if err != nil {
		b.t.Fatal(err)
	}
}

// watched reads the file every millisecond until ctx ends, with one database that stays open and with a new one each
// time. The function that it returns waits for the end and returns one view for each state read.
func watched(ctx context.Context, t *testing.T, file string) func() []*pathdb.View {
	db, err := pathdb.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]*pathdb.View{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
			if err := db.Refresh(); err != nil {
				t.Errorf("refresh the open database: %v", err)
				return
			}
			v := db.View()
			read[fmt.Sprint(v.Info())] = v
			again, err := pathdb.Open(t.Context(), file)
			if err != nil {
				t.Errorf("open the database again: %v", err)
				return
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return func() (list []*pathdb.View) {
		wg.Wait()
		for _, v := range read {
			list = append(list, v)
		}
		return list
	}
}

// TestFollowPaths checks that a database follows changes of entries of the live tables, and that each state that
// readers see meanwhile matches live tables. A copy with the differences applied must match the last tables.
func TestFollowPaths(t *testing.T) {
	b := newBench(t, "fattree:2,8")
	dir := t.TempDir()
	file, deltas, copied := filepath.Join(dir, "paths"), filepath.Join(dir, "deltas"), filepath.Join(dir, "copy")
	if err := os.Mkdir(deltas, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := b.KeepCurrent(10 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	rep, err := Follow(t.Context(), b.Session, file, FollowOptions{Trace: true, Deltas: deltas})
	if err != nil || rep.State != 1 || rep.Delta != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	image, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, image, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	views := watched(ctx, t, file)
	live := []*fabric.Tables{b.State().Live.Tables}
	for range 3 {
		sw, lid := fabric.SwitchIndex(b.r.IntN(len(b.Fabric.Switches))), uint16(1+b.r.IntN(int(b.Fabric.MaxLID)))
		entry := b.LFT.Row(sw)[lid]%b.Fabric.SwitchNode(sw).NumPorts + 1
		b.setEntry(sw, lid, entry)
		live = append(live, b.followed(file, func(t *fabric.Tables) bool { return t.Port(sw, lid) == entry }))
	}
	stop()
	for _, v := range views() {
		var why error
		for _, tables := range live {
			if why = compareAll(v, tables); why == nil {
				break
			}
		}
		if why != nil {
			t.Errorf("state %d matches none of the live tables: %v", v.Info().State, why)
		}
	}
	StopFollowing(b.Session)
	b.StopKeeping()
	b.checkDeltas(copied, deltas, live[len(live)-1])
	if left, err := filepath.Glob(filepath.Join(dir, "*.new-*")); err != nil || left != nil {
		t.Errorf("temporary files left: %v, %v", left, err)
	}
}

// checkDeltas applies the written differences to a copy and compares it with the live tables.
func (b *bench) checkDeltas(copied, deltas string, live *fabric.Tables) {
	b.t.Helper()
	list, err := os.ReadDir(deltas)
	if err != nil || len(list) == 0 {
		b.t.Fatalf("%v, %v", list, err)
	}
	for _, e := range list {
		delta, err := os.ReadFile(filepath.Join(deltas, e.Name()))
		if err != nil {
			b.t.Fatal(err)
		}
		if err := pathdb.Apply(b.t.Context(), copied, delta); err != nil {
			b.t.Fatalf("%s: %v", e.Name(), err)
		}
	}
	db, err := pathdb.Open(b.t.Context(), copied)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := compareAll(db.View(), live); err != nil {
		b.t.Errorf("the copy: %v", err)
	}
	if err := db.Close(); err != nil {
		b.t.Error(err)
	}
}

// TestFollowOwnFilesOnly checks that Follow does not overwrite other files and continues with an existing database,
// also after a host disappears and returns.
func TestFollowOwnFilesOnly(t *testing.T) {
	b := newBench(t, "fattree:2,4")
	other := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(other, []byte("not yours"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Follow(t.Context(), b.Session, other, FollowOptions{}); err == nil ||
		!strings.Contains(err.Error(), "path database") {
		t.Errorf("a file that is not a database: %v", err)
	}
	file := filepath.Join(t.TempDir(), "paths")
	for i := range 2 {
		rep, err := Follow(t.Context(), b.Session, file, FollowOptions{Trace: true})
		if err != nil || rep.State != 1 || rep.Same != (i == 1) {
			t.Errorf("%+v, %v", rep, err)
		}
	}
	host := b.host()
	b.Sim.PowerOff(b.Fabric.Ports[host].Node)
	b.sweep()
	b.followed(file, func(t *fabric.Tables) bool {
		return t.Fabric.PortByGUID(b.Fabric.Ports[host].GUID) == fabric.None
	})
	b.Sim.PowerOn(b.Fabric.Ports[host].Node)
	b.sweep()
	b.followed(file, func(t *fabric.Tables) bool {
		return t.Fabric.PortByGUID(b.Fabric.Ports[host].GUID) != fabric.None
	})
}
