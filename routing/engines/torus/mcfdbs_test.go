// SPDX-License-Identifier: Apache-2.0

package torus_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/mcast"
	"example.org/ibconsole/routing/engines/torus"
)

// TestDrawnTreesEqualOpenSM lets all hosts of the document's torus join a group, and two of them and a switch another
// one: complete, and with the failed link and the failed switch of the document's drawings. opensm.mcfdbs has the drawn
// trees, and the tree from the root that TreeLoop proposes for the switch.
func TestDrawnTreesEqualOpenSM(t *testing.T) {
	testenv.Tool(t, "opensm")
	for name, lost := range map[string][2]torus.Coordinates{
		"complete": {{}, {1, 1}}, "link": {{2, 2}, {3, 2}}, "switch": {{3, 2}, {3, 2}}, "proposed": {{3, 2}, {3, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, f, conf := document(t)
			if name == "proposed" {
				_, loop := loopOf(t, &drawn{cabled: c}, conf, lost[0])
				conf = loop.Clear
			}
			trial := &trial{what: name, f: c.without(f, lost[0], lost[1]), conf: conf, maxOpVLs: 5}
			drawnTree(t, trial)
		})
	}
}

func drawnTree(t *testing.T, c *trial) {
	netFile, args := c.files(t)
	sim := ibsimtest.Start(t, netFile)
	dir := ibsimtest.Master(t, sim, args...)
	client := ibsimtest.Client(t, sim, "")
	f := read(t, client).Fabric
	res, err := torus.Engine{Conf: c.conf}.Route(t.Context(), f, routing.Options{MaxOpVLs: c.maxOpVLs})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := sa.New(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	var hosts, some []fabric.PortIndex
	for _, e := range f.EndPorts {
		if !f.Nodes[f.Ports[e].Node].IsSwitch() {
			hosts = append(hosts, e)
		}
	}
	some = append(some, hosts[1], hosts[len(hosts)-2], f.SwitchNode(5).FirstPort)
	var groups []fabric.Group
	for i, members := range [][]fabric.PortIndex{hosts, some} {
		groups = append(groups, joinAll(t, admin, f, mad.NewGID(0xff12000000000000, uint64(0x1000+i)), members))
	}
	made, err := mcast.Route(t.Context(), f, mcast.Router(f, res.Hops, res.Multicast), groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := *res.Tables
	tables.MFT = made.MFT
	if r, err := mcast.Check(t.Context(), &tables, groups, nil); err != nil || r.Verdict() != verdict.OK {
		t.Errorf("our trees: %+v, %v", r, err)
	}
	var ours bytes.Buffer
	if err := osm.WriteMCFDBs(&ours, f, made.MFT); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		theirs, err := os.ReadFile(filepath.Join(dir, "opensm.mcfdbs"))
		if err == nil && bytes.Equal(theirs, ours.Bytes()) {
			return
		}
		if time.Since(began) > groupLimit {
			t.Fatalf("OpenSM wrote (%v)\n%s\nwe\n%s", err, theirs, &ours)
		}
	}
}

// joinAll makes a group of the ports that OpenSM lets join.
func joinAll(t *testing.T, admin *sa.Client, f *fabric.Fabric, mgid mad.GID, members []fabric.PortIndex) fabric.Group {
	t.Helper()
	g := fabric.Group{MGID: mgid}
	for _, e := range members {
		rec := sa.MCMemberRecord{MGID: mgid, PortGID: mad.NewGID(mad.DefaultGIDPrefix, f.Ports[e].GUID), QKey: 0xb1b,
			PKey: 0xffff, JoinState: sa.JoinFull}
		got, err := sa.Ask(t.Context(), admin, mad.MethodSet, rec, sa.MemberMGID|sa.MemberPortGID|sa.MemberJoinState|
			sa.MemberQKey|sa.MemberTrafficClass|sa.MemberPKey|sa.MemberFlowLabel|sa.MemberSL)
		if err != nil {
			t.Log(fmt.Errorf("%s may not join: %w", f.PortName(e), err))
			continue
		}
		g.MLID = got.MLID
		g.Members = append(g.Members, fabric.Member{GUID: f.Ports[e].GUID, Join: fabric.JoinFull})
	}
	return g
}
