// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// patient makes the loss of all tries of a request nearly impossible: at 10 % loss in each direction one try fails in
// 19 % of cases, 12 tries in 2e-9.
var patient = mad.ClientOptions{Window: 64, Timeout: 25 * time.Millisecond, Tries: 12, Backoff: 1.6}

// TestFaultsChangeNothing checks that lost, late and repeated packets do not change the result, including the order of
// nodes.
func TestFaultsChangeNothing(t *testing.T) {
	rnd := testenv.Rand(t)
	for _, spec := range []string{"fattree:3,8", "torus:5x4,2"} {
		f, _, s := routed(t, spec)
		want := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
		for _, faults := range []sim.Faults{
			{Loss: 0.01},
			{Loss: 0.10},
			{Delay: 3 * time.Millisecond},
			{Repeat: 0.5},
			{Loss: 0.05, Repeat: 0.2, Delay: 8 * time.Millisecond},
		} {
			faults.Seed = rnd.Uint64()
			t.Run(fmt.Sprintf("%s %+v", spec, faults), func(t *testing.T) {
				s.SetFaults(faults)
				got := full(t, client(t, open(t, s, f.SMPort), patient), sweep.Options{})
				clean(t, got)
				same(t, "fabric", describe(want.Fabric), describe(got.Fabric))
				same(t, "tables", describeTables(want.Tables), describeTables(got.Tables))
				if !fabric.Same(want.Fabric, got.Fabric) {
					t.Error("the nodes are in another order")
				}
			})
		}
	}
}

// TestUnlinkInMidSweep removes cables during the sweep. It must end, report only unanswered requests, and return no
// link that never existed; the next sweep returns exactly the remaining subnet.
func TestUnlinkInMidSweep(t *testing.T) {
	rnd := testenv.Rand(t)
	for round := range testenv.Count(t, 8, 100) {
		f, _, s := routed(t, "fattree:3,8")
		links := f.Links()
		rnd.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
		var cut []fabric.Link
		for _, l := range links {
			if l.A != f.SMPort && l.B != f.SMPort && len(cut) < 10 {
				cut = append(cut, l)
			}
		}
		at, answers := 50+rnd.IntN(1500), 0
		conn := &dropper{Transport: open(t, s, f.SMPort), drop: func(*mad.SMP) bool {
			if answers++; answers == at {
				for _, l := range cut {
					if err := s.Unlink(l.A); err != nil {
						t.Error(err)
					}
				}
			}
			return false
		}}
		res := full(t, client(t, conn, mad.ClientOptions{Timeout: time.Minute, Tries: 2}), sweep.Options{})
		for _, w := range res.Warnings {
			t.Errorf("round %d: warning %s", round, w)
		}
		for _, l := range res.Fabric.Links() {
			if a, b := guidPort(res.Fabric, l.A), guidPort(res.Fabric, l.B); !linked(f, a, b) {
				t.Errorf("round %d: %v and %v were never linked", round, a, b)
			}
		}
		quiet := full(t, client(t, open(t, s, f.SMPort), mad.ClientOptions{}), sweep.Options{})
		clean(t, quiet)
		same(t, "what is left", cables(f.Without(cut)), cables(quiet.Fabric))
	}
}

// TestUnpluggedInMidSweep checks that a sweep whose own cable is removed ends with the reason, if packets without a
// link are lost.
func TestUnpluggedInMidSweep(t *testing.T) {
	f, _, s := routed(t, "fattree:3,8")
	conn := &pulled{Transport: open(t, s, f.SMPort)}
	conn.left.Store(300)
	conn.pull = func() error { return s.Unlink(f.SMPort) }
	_, err := sweep.Full(t.Context(), client(t, conn, mad.ClientOptions{Window: 4, Timeout: 50 * time.Millisecond}),
		sweep.Options{})
	if !errors.Is(err, mad.ErrUnplugged) {
		t.Errorf("%v, want %v", err, mad.ErrUnplugged)
	}
}

// pulled is a transport whose cable is removed after some packets.
type pulled struct {
	mad.Transport
	left atomic.Int64
	pull func() error
}

func (p *pulled) Send(f *mad.Frame) error {
	left := p.left.Add(-1)
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return err
	}
	if left == 0 {
		if err := p.pull(); err != nil {
			return err
		}
	}
	if left <= 0 && smp.HopCount > 0 {
		return nil
	}
	return p.Transport.Send(f)
}

// cables lists the links of a subnet by GUID and port.
func cables(f *fabric.Fabric) []string {
	var lines []string
	for _, l := range f.Links() {
		if f.Nodes[f.Ports[l.A].Node].InSubnet {
			a, b := fmt.Sprintf("%v", guidPort(f, l.A)), fmt.Sprintf("%v", guidPort(f, l.B))
			lines = append(lines, min(a, b)+" "+max(a, b))
		}
	}
	slices.Sort(lines)
	return lines
}

type end struct {
	guid uint64
	num  uint8
}

func guidPort(f *fabric.Fabric, port fabric.PortIndex) end {
	p := &f.Ports[port]
	return end{f.Nodes[p.Node].GUID, p.Num}
}

func linked(f *fabric.Fabric, a, b end) bool {
	i, j := f.NodeByGUID(a.guid), f.NodeByGUID(b.guid)
	return i != fabric.None && j != fabric.None && f.Ports[f.Port(i, a.num)].Peer == f.Port(j, b.num)
}

// TestContradictions sweeps subnets with duplicate GUIDs and LIDs, ports that lead to themselves and invalid answers.
// The first of two contradictory values counts and the sweep continues.
func TestContradictions(t *testing.T) {
	f, _, s := routed(t, "fattree:2,4")
	host := func(i int) fabric.NodeIndex { return f.NodesByDescription(fmt.Sprintf("node-%04d HCA-1", i))[0] }
	port := func(i int) fabric.PortIndex { return f.Port(host(i), 1) }
	sweepWith := func(change func(*mad.SMP)) *sweep.Result {
		return full(t, client(t, &changer{open(t, s, f.SMPort), change}, mad.ClientOptions{}), sweep.Options{})
	}
	expect := func(t *testing.T, res *sweep.Result, nodes int, warning ...string) {
		t.Helper()
		if len(res.Fabric.Nodes) != nodes {
			t.Errorf("%d nodes, want %d", len(res.Fabric.Nodes), nodes)
		}
		if got := strings.Join(res.Warnings, "\n"); got != strings.Join(warning, "\n") {
			t.Errorf("warnings:\n%s\nwant:\n%s", got, strings.Join(warning, "\n"))
		}
	}
	t.Run("two nodes with one GUID", func(t *testing.T) {
		s.SetGUID(host(5), f.Nodes[host(3)].GUID)
		defer s.SetGUID(host(5), f.Nodes[host(5)].GUID)
		res := sweepWith(nil)
		expect(t, res, 13, "node GUID 0x0000000000100004 is used by two nodes: node-0003 HCA-1, a Channel Adapter of "+
			"1 ports, "+
			"and a Channel Adapter of 1 ports behind leaf-03/1, which is ignored")
	})
	t.Run("a switch with a host's GUID", func(t *testing.T) {
		spine := f.NodesByDescription("spine-01")[0]
		s.SetGUID(spine, f.Nodes[host(2)].GUID)
		defer s.SetGUID(spine, f.Nodes[spine].GUID)
		res := sweepWith(nil)
		if len(res.Fabric.Nodes) != 13 || len(res.Warnings) == 0 ||
			!strings.HasPrefix(res.Warnings[0], "node GUID 0x0000000000100002 is used by two nodes: ") {
			t.Errorf("%d nodes, warnings %q", len(res.Fabric.Nodes), res.Warnings)
		}
	})
	t.Run("two ports with one LID", func(t *testing.T) {
		lid := f.Ports[port(5)].LID
		s.SetLID(port(5), f.Ports[port(3)].LID)
		defer s.SetLID(port(5), lid)
		res := sweepWith(nil)
		expect(t, res, 14, fmt.Sprintf("LID %d is claimed by both node-0003 HCA-1 and node-0005 HCA-1/1; the second "+
			"LID is ignored", f.Ports[port(3)].LID))
		if got := res.Fabric.PortByLID(f.Ports[port(3)].LID); res.Fabric.PortName(got) != "node-0003 HCA-1/1" {
			t.Errorf("the LID is that of %s", res.Fabric.PortName(got))
		}
	})
	t.Run("an invalid LID", func(t *testing.T) {
		lid := f.Ports[port(5)].LID
		s.SetLID(port(5), 0xc000)
		defer s.SetLID(port(5), lid)
		expect(t, sweepWith(nil), 14, "node-0005 HCA-1/1 has LID 49152 with LMC 0, above the highest unicast LID "+
			"49151; "+
			"the LID is ignored")
	})
	t.Run("a LID that its LMC does not allow", func(t *testing.T) {
		res := sweepWith(func(m *mad.SMP) {
			if m.Attr == mad.AttrPortInfo && m.Data[16] == 0 && m.Data[17] == byte(f.Ports[port(5)].LID) {
				m.Data[17], m.Data[34] = 5, m.Data[34]&^7|2
			}
		})
		expect(t, res, 14, "node-0005 HCA-1/1 has LID 5 with LMC 2, which is not a multiple of 4; the LID is ignored")
	})
	nodeInfo := func(guid uint64, change func(*mad.NodeInfo)) func(*mad.SMP) {
		return func(m *mad.SMP) {
			var info mad.NodeInfo
			if m.Attr != mad.AttrNodeInfo || info.UnmarshalBinary(m.Data[:]) != nil || info.NodeGUID != guid {
				return
			}
			change(&info)
			b, _ := info.AppendBinary(nil)
			m.Data = [64]byte(b)
		}
	}
	guid5 := f.Nodes[host(5)].GUID
	t.Run("two identical nodes", func(t *testing.T) {
		guid3 := f.Nodes[host(3)].GUID
		res := sweepWith(nodeInfo(guid5, func(i *mad.NodeInfo) { i.NodeGUID, i.SystemImageGUID = guid3, guid3 }))
		expect(t, res, 13, "node-0003 HCA-1/1 answers behind both leaf-02/1 and leaf-03/1: two nodes have GUID "+
			"0x0000000000100004, or a cable was moved; the second is ignored")
	})
	t.Run("two ports with one GUID", func(t *testing.T) {
		res := sweepWith(nodeInfo(guid5, func(i *mad.NodeInfo) { i.PortGUID = f.Ports[port(3)].GUID }))
		expect(t, res, 14, "port GUID 0x0000000000100005 is used by both node-0003 HCA-1 and node-0005 HCA-1/1; the "+
			"second is ignored")
		if n := res.Fabric.NodeByGUID(guid5); res.Fabric.Nodes[n].InSubnet {
			t.Error("the second is in the subnet")
		}
	})
	t.Run("a node without GUID", func(t *testing.T) {
		res := sweepWith(nodeInfo(guid5, func(i *mad.NodeInfo) { i.NodeGUID = 0 }))
		expect(t, res, 13)
		if len(res.Unanswered) != 1 || res.Unanswered[0].String() != "leaf-03 port 1: node has GUID 0" {
			t.Errorf("unanswered %v", res.Unanswered)
		}
	})
	t.Run("a node reached at a port that it does not have", func(t *testing.T) {
		res := sweepWith(nodeInfo(guid5, func(i *mad.NodeInfo) { i.LocalPort = 2 }))
		expect(t, res, 13)
		if len(res.Unanswered) != 1 || res.Unanswered[0].String() != "leaf-03 port 1: node 0x0000000000100008 has 1 "+
			"ports, but was reached at its port 2" {
			t.Errorf("unanswered %v", res.Unanswered)
		}
	})
	t.Run("an invalid LinearFDBTop", func(t *testing.T) {
		res := sweepWith(func(m *mad.SMP) {
			if m.Attr == mad.AttrSwitchInfo && m.HopCount == 1 {
				m.Data[6], m.Data[7] = 0xff, 0xff
			}
		})
		expect(t, res, 14, "LinearFDBTop 65535 of leaf-01 is above the highest unicast LID 49151")
	})
	t.Run("a hostile description", func(t *testing.T) {
		res := sweepWith(func(m *mad.SMP) {
			if m.Attr == mad.AttrNodeDescription && m.HopCount == 1 {
				m.Data = mad.NewNodeDescription("\x1b]0;evil\a")
			}
			if m.Attr == mad.AttrSwitchInfo && m.HopCount == 1 {
				m.Status = mad.StatusBusy &^ 1 // as it is
				m.Data[6], m.Data[7] = 0xff, 0xff
			}
		})
		expect(t, res, 14,
			`LinearFDBTop 65535 of \x1b]0;evil\x07 is above the highest unicast LID 49151`)
	})
}

// changer changes answers.
type changer struct {
	mad.Transport
	change func(*mad.SMP)
}

func (l *changer) Recv(f *mad.Frame) error {
	if err := l.Transport.Recv(f); err != nil || l.change == nil {
		return err
	}
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return err
	}
	l.change(&smp)
	smp.Put(&f.Data)
	return nil
}

// TestLoopback connects a port to itself.
func TestLoopback(t *testing.T) {
	f, _, s := routed(t, "torus:4x3,1")
	var b strings.Builder
	res := full(t, client(t, &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
		var info mad.NodeInfo
		// The probe beyond port 2 of the first switch comes back to that switch.
		if m.Attr == mad.AttrNodeInfo && m.HopCount == 2 && m.InitialPath[2] == 2 &&
			info.UnmarshalBinary(m.Data[:]) == nil {
			n := f.Nodes[f.NodesByDescription("sw-0-0")[0]]
			info.NodeGUID, info.SystemImageGUID, info.NumPorts, info.LocalPort = n.GUID, n.SystemGUID, n.NumPorts, 2
			data, _ := info.AppendBinary(nil)
			m.Data = [64]byte(data)
		}
	}}, mad.ClientOptions{}), sweep.Options{})
	for _, w := range res.Warnings {
		fmt.Fprintln(&b, w)
	}
	if !strings.Contains(b.String(), "sw-0-0/2 leads back to itself\n") {
		t.Errorf("warnings:\n%s", &b)
	}
}

// TestEndlessNodes sweeps a switch that reports a new GUID each time.
func TestEndlessNodes(t *testing.T) {
	f, _, s := routed(t, "torus:3x3,1")
	guid := uint64(1) << 40
	conn := &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
		if m.Attr != mad.AttrNodeInfo || m.HopCount < 2 {
			return
		}
		var info mad.NodeInfo
		if err := info.UnmarshalBinary(m.Data[:]); err != nil {
			return
		}
		guid++
		info.NodeGUID, info.PortGUID = guid, guid
		b, _ := info.AppendBinary(nil)
		m.Data = [64]byte(b)
	}}
	c := client(t, conn, mad.ClientOptions{Window: 64, Timeout: time.Minute})
	const limit = 3000
	res := full(t, c, sweep.Options{}.AtMost(limit))
	if n := len(res.Fabric.Nodes); n != limit {
		t.Errorf("%d nodes, want the limit of %d", n, limit)
	}
	warnings := 0
	for _, w := range res.Warnings {
		if strings.HasPrefix(w, "too many nodes") {
			warnings++
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings of too many nodes", warnings)
	}
}

// TestTooManyTables sweeps a subnet whose tables are larger by one than the sweep permits. These tables are not read.
func TestTooManyTables(t *testing.T) {
	f, _, s := routed(t, "fattree:2,8")
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{})
	plain := full(t, c, sweep.Options{})
	for _, k := range []struct {
		opt     sweep.Options
		says    string
		size    func(*sweep.Result) int64
		wasRead func(*sweep.Result) bool
	}{
		{sweep.Options{}, "too many forwarding tables", func(r *sweep.Result) int64 {
			return int64(len(f.Switches)) * (int64(slices.Max(r.Tables.Top)) + 1)
		}, func(r *sweep.Result) bool { return !slices.Contains(r.Tables.Known, false) }},
		{sweep.Options{MFT: true}, "too many multicast forwarding tables", func(r *sweep.Result) int64 {
			return fabric.MFTSize(f, r.Tables.MFT.LIDs())
		}, func(r *sweep.Result) bool { return r.Tables.MFT != nil }},
		{sweep.Options{SL2VL: true}, "too many SL2VL tables", func(r *sweep.Result) int64 {
			return int64(r.Stats.Requests - plain.Stats.Requests)
		}, func(r *sweep.Result) bool { return r.Tables.SL2VL != nil && !r.Tables.Unread.SL2VL }},
		{sweep.Options{PKeys: true}, "too many P_Key tables", func(r *sweep.Result) int64 {
			return int64(r.Stats.Requests - plain.Stats.Requests)
		}, func(r *sweep.Result) bool { return r.PKeys != nil }},
	} {
		size := k.size(full(t, c, k.opt))
		for _, limit := range []int64{size, size - 1} {
			res := full(t, c, k.opt.TablesAtMost(limit))
			warned := slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.HasPrefix(w, k.says) })
			if want := limit == size; k.wasRead(res) != want || warned == want {
				t.Errorf("%s: size %d, at most %d: read %v, warnings %q", k.says, size, limit, k.wasRead(res),
					res.Warnings)
			}
		}
	}
}

// TestManyWarnings sweeps a subnet in which all end ports have the LID 1. The result names some of them and the number
// of the others.
func TestManyWarnings(t *testing.T) {
	f, _, s := routed(t, "fattree:2,8")
	conn := &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
		var info mad.PortInfo
		if m.Attr == mad.AttrPortInfo && info.UnmarshalBinary(m.Data[:]) == nil && info.LID > 0 {
			info.LID, info.LMC = 1, 0
			b, _ := info.AppendBinary(nil)
			m.Data = [64]byte(b)
		}
	}}
	res := full(t, client(t, conn, mad.ClientOptions{}), sweep.Options{})
	named, more := 0, 0
	for _, w := range res.Warnings {
		if strings.HasPrefix(w, "LID 1 is claimed by both ") {
			named++
		} else if _, err := fmt.Sscanf(w, "%d more warnings like this: LID 1 ", &more); err != nil {
			t.Errorf("another warning: %s", w)
		}
	}
	if want := len(res.Duplicates); want != len(f.EndPorts)-1 || named == 0 || named > 20 || named+more != want {
		t.Errorf("of %d end ports, %d are duplicates; %d are named, and %d more", len(f.EndPorts), want, named, more)
	}
}

// TestManyDifferentSL2VL sweeps a subnet that returns different SL2VL tables for all ports, more than can be stored.
func TestManyDifferentSL2VL(t *testing.T) {
	f, _, s := routed(t, "fattree:2,64")
	count := uint64(0)
	conn := &changer{open(t, s, f.SMPort), func(m *mad.SMP) {
		if m.Attr == mad.AttrSLToVLTable {
			count++
			binary.BigEndian.PutUint64(m.Data[:], count)
		}
	}}
	res := full(t, client(t, conn, mad.ClientOptions{}), sweep.Options{SL2VL: true})
	if res.Tables.SL2VL != nil || !res.Tables.Unread.SL2VL || len(res.Warnings) != 1 ||
		!strings.HasPrefix(res.Warnings[0], "too many different SL2VL tables") {
		t.Errorf("%d tables: read %v, warnings %q", count, res.Tables.SL2VL != nil, res.Warnings)
	}
}
