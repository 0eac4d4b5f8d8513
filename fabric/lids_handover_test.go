// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// daemon is a running OpenSM.
type daemon struct {
	t   *testing.T
	cmd *exec.Cmd
	dir string
}

// startDaemon starts OpenSM on a node, with conf as its opensm.conf and guid2lid in its cache.
func startDaemon(t *testing.T, s *ibsimtest.Sim, node, conf string, guid2lid []byte) *daemon {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"opensm.conf": []byte(conf + "force_log_flush TRUE\n"), "guid2lid": guid2lid,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.Command(context.Background(), "opensm", "-F", filepath.Join(dir, "opensm.conf"), "-f",
		filepath.Join(dir, "opensm.log"), "-D", "0x47")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "OSM_TMP_DIR="+dir, "OSM_CACHE_DIR="+dir, "SIM_HOST="+node)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := &daemon{t, cmd, dir}
	t.Cleanup(d.stop)
	return d
}

// Messages of OpenSM at the end of a sweep.
const (
	standbyEnd = "ENTERING STANDBY STATE"
	masterEnd  = "-> SUBNET UP|ERRORS DURING INITIALIZATION"
)

// sweepTimeout is the time that a sweep may take.
const sweepTimeout = 30 * time.Second

// wait waits until an expression occurs in the log a number of times. It skips the test if OpenSM hangs, as it
// sometimes does when another one leaves.
func (d *daemon) wait(expr string, times int) {
	d.t.Helper()
	deadline := time.Now().Add(sweepTimeout)
	for d.count(expr) < times {
		if time.Now().After(deadline) {
			log := readFile(d.t, d.dir, "opensm.log")
			d.t.Logf("%s", log[max(0, len(log)-4096):])
			d.t.Skipf("opensm hangs: its log does not match %q within %v", expr, sweepTimeout)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (d *daemon) count(expr string) int {
	log, _ := os.ReadFile(filepath.Join(d.dir, "opensm.log"))
	return len(regexp.MustCompile(expr).FindAll(log, -1))
}

// stop ends OpenSM, which sometimes hangs if another one does not respond.
func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(5*time.Second, func() { _ = d.cmd.Process.Kill() })
	defer kill.Stop()
	_ = d.cmd.Wait()
}

// guid2lid returns the file that OpenSM left.
func (d *daemon) guid2lid() string { return string(readFile(d.t, d.dir, "guid2lid")) }

func text(t *testing.T, table *fabric.GUID2LID) string {
	t.Helper()
	var b bytes.Buffer
	if err := osm.WriteGUID2LID(&b, table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOutOfStandbyAsOpenSM lets an OpenSM take over from another one, with honor_guid2lid_file and without.
func TestOutOfStandbyAsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	rnd := testenv.Rand(t)
	compared := 0
	for i := range testenv.Count(t, 4, 60) {
		c := randomLIDCase(t, rnd)
		c.lmc, c.reassign, c.guid2lid = uint8(i%4), false, randomGUID2LID(rnd, &c)
		honor := i%2 == 0
		file, err := osm.ReadGUID2LID(bytes.NewReader(c.guid2lid), "guid2lid")
		if err != nil || portOf(c.fabric, 1) == portOf(c.fabric, 0) {
			continue
		}
		t.Run(fmt.Sprintf("%d-lmc%d-honor=%v", i, c.lmc, honor), func(t *testing.T) {
			first := lidCase{fabric: c.fabric, claims: make([]fabric.LIDClaim, len(c.claims))}
			s, _ := first.start(t)
			master := startDaemon(t, s, nodeOf(c.fabric, 0), "sm_priority 14\nlmc 1\n", nil)
			master.wait(masterEnd, 1)
			conf := fmt.Sprintf("sm_priority 1\nlmc %d\nlmc_esp0 %s\nhonor_guid2lid_file %s\n"+
				"sminfo_polling_timeout 100\npolling_retry_number 1\n", c.lmc, boolean(c.esp0), boolean(honor))
			standby := startDaemon(t, s, nodeOf(c.fabric, 1), conf, c.guid2lid)
			standby.wait(standbyEnd, 1)
			held := heldAddresses(s)
			for i, e := range c.fabric.EndPorts {
				h := held[c.fabric.Ports[e].GUID]
				c.claims[i] = fabric.LIDClaim{LID: uint16(h.lid), LMC: uint8(h.lmc)}
			}
			master.stop()
			standby.wait(masterEnd, 1)
			f, err := c.fabric.WithSMPort(portOf(c.fabric, 1))
			if err != nil {
				t.Fatal(err)
			}
			a, err := fabric.AssignLIDsWith(f, fabric.LIDOptions{
				LMC: c.lmc, LMCESP0: c.esp0, GUID2LID: file.Table, OutOfStandby: true, Honor: honor, Claims: c.claims,
			})
			if a == nil {
				t.Fatal(err)
			}
			if got, want := standby.guid2lid(), text(t, a.GUID2LID); got != want {
				t.Errorf("OpenSM leaves guid2lid\n%s\nwe write\n%s\n%s", got, want, &c)
			}
			compared++
		})
	}
	if compared == 0 {
		t.Error("no case was compared")
	}
}

// TestLaterSweepsAsOpenSM connects hosts with LIDs of their own to a subnet whose OpenSM keeps running.
func TestLaterSweepsAsOpenSM(t *testing.T) {
	rnd := testenv.Rand(t)
	for i := range testenv.Count(t, 4, 60) {
		c := randomLIDCase(t, rnd)
		t.Run(fmt.Sprint(i), func(t *testing.T) { c.laterSweep(t) })
	}
}

func (c *lidCase) laterSweep(t *testing.T) {
	var late []fabric.Link
	var cuts []string
	for i, e := range c.fabric.EndPorts {
		p := &c.fabric.Ports[e]
		if i%2 == 0 && p.Num > 0 && e != c.fabric.SMPort {
			late = append(late, fabric.Link{A: e, B: p.Peer})
			cuts = append(cuts, fmt.Sprintf("%q[%d]", c.fabric.Nodes[p.Node].Desc, p.Num))
		}
	}
	file, err := osm.ReadGUID2LID(bytes.NewReader(c.guid2lid), "guid2lid")
	if err != nil || len(late) == 0 {
		t.Skip("OpenSM does not start with this file, or no host can be connected later")
	}
	s, _ := c.start(t)
	for _, cut := range cuts {
		s.Console("Unlink " + cut)
	}
	d := startDaemon(t, s, nodeOf(c.fabric, 0),
		fmt.Sprintf("lmc %d\nlmc_esp0 %s\nreassign_lids %s\nsweep_on_trap FALSE\nsweep_interval 0\n",
			c.lmc, boolean(c.esp0), boolean(c.reassign)), c.guid2lid)
	d.wait(masterEnd, 1)
	early := c.fabric.Without(late)
	o := fabric.LIDOptions{LMC: c.lmc, LMCESP0: c.esp0, Reassign: c.reassign, GUID2LID: file.Table}
	claims := map[fabric.PortIndex]fabric.LIDClaim{}
	for i, e := range c.fabric.EndPorts {
		claims[e] = c.claims[i]
	}
	for _, e := range early.EndPorts {
		o.Claims = append(o.Claims, claims[e])
	}
	a, err := fabric.AssignLIDsWith(early, o)
	if err != nil {
		t.Skip(err)
	}
	if got, want := d.guid2lid(), text(t, a.GUID2LID); got != want {
		t.Fatalf("first sweep: OpenSM leaves guid2lid\n%s\nwe write\n%s\n%s", got, want, c)
	}
	held := heldAddresses(s)
	for _, cut := range cuts {
		s.Console("Relink " + cut)
	}
	o = fabric.LIDOptions{LMC: c.lmc, LMCESP0: c.esp0, GUID2LID: a.GUID2LID}
	for _, e := range c.fabric.EndPorts {
		h := held[c.fabric.Ports[e].GUID]
		o.Claims = append(o.Claims, fabric.LIDClaim{LID: uint16(h.lid), LMC: uint8(h.lmc)})
	}
	before := d.count(masterEnd)
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.wait(masterEnd, before+1)
	a, err = fabric.AssignLIDsWith(c.fabric, o)
	if a == nil {
		t.Fatal(err)
	}
	d.stop()
	if got, want := d.guid2lid(), text(t, a.GUID2LID); got != want {
		t.Errorf("later sweep: OpenSM leaves guid2lid\n%s\nwe write\n%s\n%s", got, want, c)
	}
}

// portOf returns the end port of the SM for n = 0, or that of another host.
func portOf(f *fabric.Fabric, n int) fabric.PortIndex {
	if n == 0 {
		return f.EndPortOf(f.SMPort)
	}
	for _, e := range f.EndPorts {
		if f.Ports[e].Num == 1 && e != f.SMPort {
			return e
		}
	}
	return f.EndPortOf(f.SMPort)
}

func nodeOf(f *fabric.Fabric, n int) string { return f.Nodes[f.Ports[portOf(f, n)].Node].Desc }

func boolean(b bool) string { return strings.ToUpper(fmt.Sprint(b)) }
