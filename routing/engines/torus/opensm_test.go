// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/sweep/sweeptest"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
	ports "example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/torus"
)

// trial is one comparison with an OpenSM.
type trial struct {
	what string
	f    *fabric.Fabric
	conf *osm.TorusConf
	// sl is the SL of OpenSM's default partition.
	sl       uint8
	lmc      uint8
	maxOpVLs uint8
	noQoS    bool
}

// TestEqualsOpenSM compares with OpenSM over ibsim on random tori and meshes, complete and with failures, with
// configurations of which some do not fit: forwarding tables, dumps, the SL2VL tables of switches and hosts, SLs in
// path records, multicast tables, and the reasons of refusals.
func TestEqualsOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	for i := range testenv.Count(t, 15, 200) {
		seed := r.Uint64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 5))
			randomTrial(t, r).run(t, r)
		})
	}
}

// files writes the input of the programs, and returns the file of ibsim and OpenSM's options.
func (c *trial) files(t *testing.T) (netFile string, args []string) {
	t.Helper()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	var net, conf bytes.Buffer
	if err := errors.Join(gen.WriteNet(&net, c.f), osm.WriteTorusConf(&conf, c.conf)); err != nil {
		t.Fatal(err)
	}
	qos := map[bool]string{false: "TRUE", true: "FALSE"}[c.noQoS]
	for name, text := range map[string]string{
		"fabric.net": net.String(), "torus.conf": conf.String(),
		"partitions.conf": fmt.Sprintf("Default=0x7fff,ipoib,sl=%d:ALL=full,SELF=full;\n", c.sl),
		"opensm.conf": fmt.Sprintf("force_log_flush TRUE\nlmc %d\nmax_op_vls %d\nqos %s\nsweep_interval "+
			"0\ntorus_config %s\npartition_config_file %s\nrouting_engine %s\n",
			c.lmc, c.maxOpVLs, qos, path("torus.conf"), path("partitions.conf"), torus.Name),
	} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path("fabric.net"), []string{"-F", path("opensm.conf")}
}

func (c *trial) run(t *testing.T, r *rand.Rand) {
	netFile, args := c.files(t)
	fail := func(format string, args ...any) {
		t.Helper()
		var conf bytes.Buffer
		_ = osm.WriteTorusConf(&conf, c.conf)
		kept, err := os.MkdirTemp("", "ibconsole-torus-")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(kept, os.DirFS(filepath.Dir(netFile))); err != nil {
			t.Error(err)
		}
		t.Fatalf("%s (kept in %s): %s\n%s", c.what, kept, fmt.Sprintf(format, args...), &conf)
	}
	sim := ibsimtest.Start(t, netFile)
	dir := ibsimtest.Master(t, sim, args...)
	client := ibsimtest.Client(t, sim, "")
	live := read(t, client)
	engine := torus.Engine{Conf: c.conf, NoQoS: c.noQoS, Strict: true}
	chain, err := engines.Chain([]string{torus.Name}, engine)
	if err != nil {
		t.Fatal(err)
	}
	f := live.Fabric
	res, refusals, err := engines.Try(context.Background(), chain, f, routing.Options{LMC: c.lmc, MaxOpVLs: c.maxOpVLs})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(dir, "opensm.log"))
	if err != nil {
		t.Fatal(err)
	}
	if theirs := routedWith.FindSubmatch(log); theirs == nil || string(theirs[1]) != res.Tables.Origin {
		fail("OpenSM routes with %q, we with %s, after refusals %v", theirs, res.Tables.Origin, refusals)
	}
	for s := range fabric.SwitchIndex(len(f.Switches)) {
		if got, want := res.Tables.LFT.Row(s)[:f.MaxLID+1],
			live.Tables.LFT.Row(s)[:f.MaxLID+1]; !bytes.Equal(got, want) {
			fail("%s holds\n%v, ours is\n%v", f.NodeName(f.Switches[s]), want, got)
		}
	}
	if err := sameDumps(dir, res); err != nil {
		fail("%v", err)
	}
	if len(refusals) > 0 {
		t.Logf("%s: refused: %s", c.what, refusals[0].Reason)
		if err := sameReason(string(log), refusals[0].Reason); err != nil {
			fail("%v", err)
		}
		return
	}
	t.Logf("%s: routed, noticed %q", c.what, res.Warnings)
	if !strings.Contains(strings.Join(res.Warnings, "\n"), "can deadlock") {
		free(t, c.what, res.Tables)
	}
	if err := sweeptest.SL2VL(live, res.Tables.SL2VL); err != nil {
		fail("%v", err)
	}
	grid, _ := torus.Of(res.Tables)
	if err := sweeptest.PathSLs(t.Context(), client, r, res.Tables,
		&torus.PathSLs{Torus: grid, Level: c.sl >> 3}); err != nil {
		fail("%v", err)
	}
	if err := sameGroups(t, client, r, res); err != nil {
		fail("%v", err)
	}
}

var (
	routedWith = regexp.MustCompile(`: ([\w-]+) tables configured on all switches`)
	errorCode  = regexp.MustCompile(`ERR (4E\w\w)`)
)

func read(t *testing.T, client *mad.Client) *sweep.Result {
	t.Helper()
	live, err := sweep.Full(t.Context(), client, sweep.Options{SL2VL: true, MFT: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(live.Unanswered) > 0 {
		t.Fatalf("not all answers: %v", live.Unanswered)
	}
	return live
}

// sameDumps compares OpenSM's dumps of tables, hops and places.
func sameDumps(dir string, res *routing.Result) error {
	f := res.Tables.Fabric
	var lfts, matrix, fdbs bytes.Buffer
	if err := errors.Join(osm.WriteLFTs(&lfts, res.Tables), osm.WriteLIDMatrix(&matrix, f, res.Hops),
		osm.WriteFDBs(&fdbs, res.Tables, res.Hops, ports.Recommend(f, res.Hops, &routing.Options{}, nil, nil))); err !=
		nil {
		return err
	}
	want := map[string]string{"opensm-lfts.dump": lfts.String(), "opensm-lid-matrix.dump": matrix.String()}
	if grid, ok := torus.Of(res.Tables); ok {
		want["opensm.fdbs"] = fdbs.String()
		text := ""
		for z := range grid.Radix[2] {
			for y := range grid.Radix[1] {
				for x := range grid.Radix[0] {
					if s := grid.SwitchAt(torus.Coordinates{x, y, z}); s != fabric.None {
						n := f.SwitchNode(s)
						text += fmt.Sprintf("switch %d,%d,%d GUID 0x%04x (%s)\n", x, y, z, n.GUID, n.Desc)
					}
				}
			}
		}
		want["opensm-torus.dump"] = text
	}
	for name, ours := range want {
		theirs, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		a, b := strings.Split(string(theirs), "\n"), strings.Split(ours, "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return fmt.Errorf("%s differs in line %d\n  OpenSM: %s\n  we:     %s", name, i+1, a[i], b[i])
			}
		}
		if len(a) != len(b) {
			return fmt.Errorf("%s has %d lines, ours %d", name, len(a), len(b))
		}
	}
	return nil
}

// sameReason compares the codes of OpenSM's errors with those of our reason, which may have fewer.
func sameReason(log, ours string) error {
	var theirs []string
	for _, m := range errorCode.FindAllStringSubmatch(log, -1) {
		theirs = append(theirs, m[1])
	}
	codes := errorCode.FindAllStringSubmatch(ours, -1)
	for _, m := range codes {
		if !slices.Contains(theirs, m[1]) {
			return fmt.Errorf("we refuse as %q, OpenSM with %q", ours, theirs)
		}
	}
	// OpenSM logs no code if it finds no root.
	if len(codes) == 0 && !strings.Contains(ours, "root of multicast") {
		return fmt.Errorf("we refuse without a code, as %q, OpenSM with %q", ours, theirs)
	}
	return nil
}

// broadcast is the group of IPoIB in the default partition.
var broadcast = mad.NewGID(0xff12401bffff0000, 0xffffffff)

const groupLimit = 2 * time.Minute

// sameGroups lets some hosts join a multicast group, and compares its tree.
func sameGroups(t *testing.T, client *mad.Client, r *rand.Rand, res *routing.Result) error {
	t.Helper()
	f := res.Tables.Fabric
	admin, err := sa.New(t.Context(), client)
	if err != nil {
		return err
	}
	var members []fabric.PortIndex
	mlid := uint16(fabric.FirstMLID)
	for _, e := range f.EndPorts {
		if f.Nodes[f.Ports[e].Node].IsSwitch() || r.IntN(3) == 0 {
			continue
		}
		rec := sa.MCMemberRecord{MGID: broadcast, PortGID: mad.NewGID(0xfe80000000000000, f.Ports[e].GUID),
			JoinState: sa.JoinFull}
		joined, err := sa.Ask(t.Context(), admin, mad.MethodSet, rec, sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState)
		if err != nil {
			return fmt.Errorf("join %s: %w", f.PortName(e), err)
		}
		mlid = joined.MLID
		members = append(members, e)
	}
	grid, _ := torus.Of(res.Tables)
	want := fabric.NewMFT(f, mlid)
	if _, err := grid.MasterTree().AddGroup(want, mlid, members); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		err := sameMFT(read(t, client), want, mlid)
		if err == nil || time.Since(began) > groupLimit {
			return err
		}
	}
}

func sameMFT(live *sweep.Result, ours *fabric.MFT, mlid uint16) error {
	for s := range fabric.SwitchIndex(len(live.Fabric.Switches)) {
		n := live.Fabric.SwitchNode(s)
		for p := range int(n.NumPorts) + 1 {
			if theirs, our := live.Tables.MFT.Has(s, mlid, uint8(p)), ours.Has(s, mlid, uint8(p)); theirs != our {
				return fmt.Errorf("%s sends multicast 0x%x to port %d: %v, we: %v", n.Desc, mlid, p, theirs, our)
			}
		}
	}
	return nil
}

// TestLargeToriEqualOpenSM does the same on tori and meshes of up to 12 x 12 x 12 switches without up to 8 links and up
// to 2 consecutive switches.
func TestLargeToriEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	r := testenv.Rand(t)
	most := 7
	if testenv.Full() {
		most = 12
	}
	for i := range testenv.Count(t, 1, 25) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			s := shape{hosts: 1, shuffled: r.IntN(2) == 0}
			for d := range 3 {
				s.radix[d], s.links[d], s.open[d] = most-r.IntN(4), 1+r.IntN(2), r.IntN(5) == 0
			}
			if i%5 == 1 {
				s.radix = [3]int{most, most, most}
			}
			c := cable(t, r, s)
			f, what := c.withFailures(r, r.IntN(9), r.IntN(3))
			k := &trial{what: fmt.Sprintf("%+v%s", s, what), f: f, maxOpVLs: 5, sl: 8}
			k.conf = c.config(torus.Coordinates{}, c.random(r), c.random(r), c.random(r), c.random(r))
			k.run(t, r)
		})
	}
}

// withFailures returns the fabric without some links, each of which may be one of several, and without some consecutive
// switches along the last dimension.
func (c *cabled) withFailures(r *rand.Rand, links, switches int) (*fabric.Fabric, string) {
	f := c.build()
	home := f.PeerNode(f.SMPort)
	what := fmt.Sprintf(", without %d links", links)
	var between, cut []fabric.Link
	for _, l := range f.Links() {
		if f.PeerSwitch(l.A) != fabric.None && f.PeerSwitch(l.B) != fabric.None {
			between = append(between, l)
		}
	}
	for range links {
		cut = append(cut, between[r.IntN(len(between))])
	}
	f = f.Without(cut)
	at := c.random(r)
	for range switches {
		if c.at[at] != home {
			f = c.without(f, at, at)
			what += fmt.Sprintf(", without switch %v", at)
		}
		at[2] = (at[2] + 1) % c.radix[2]
	}
	return f, what
}
