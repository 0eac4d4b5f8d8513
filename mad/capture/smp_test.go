// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// exchange is a request and its answer.
type exchange struct {
	req  mad.Request
	data [mad.DataSize]byte
}

// subnet is a client on a routed subnet, through a running capture.
type subnet struct {
	f      *fabric.Fabric
	at     *Transport
	client *mad.Client
	file   string
	done   []exchange
}

func newSubnet(t *testing.T) *subnet {
	t.Helper()
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := sim.New(f, sim.Options{Tables: res.Tables, Active: true}).Open(f.SMPort)
	if err != nil {
		t.Fatal(err)
	}
	n := &subnet{f: f, at: Wrap(conn)}
	if n.client, err = mad.NewClient(n.at, mad.ClientOptions{Timeout: time.Minute, Tries: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.client.Close() })
	n.file = start(t, n.at)
	return n
}

func (n *subnet) do(t *testing.T, r mad.Request) [mad.DataSize]byte {
	t.Helper()
	r.MKey = key
	data, err := n.client.Do(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	n.done = append(n.done, exchange{r, data})
	return data
}

// talk reads and writes the first switch and the host beyond it, by directed route and by LID. It writes the M_Key into
// their PortInfo.
func (n *subnet) talk(t *testing.T) {
	t.Helper()
	leaf, err := mad.Path{}.Append(1)
	if err != nil {
		t.Fatal(err)
	}
	host, err := leaf.Append(2)
	if err != nil {
		t.Fatal(err)
	}
	near := n.f.Nodes[n.f.Ports[n.f.Ports[n.f.SMPort].Peer].Node].FirstPort
	far := n.f.Ports[near+2].Peer
	n.do(t, mad.Request{Attr: mad.AttrPortInfo}) // the capture learns the own LID
	for _, to := range []mad.Request{
		{Path: leaf}, {LID: n.f.Ports[near].LID}, {Path: host}, {LID: n.f.Ports[far].LID},
	} {
		ask := func(attr mad.AttrID, mod uint32) {
			r := to
			r.Attr, r.Mod = attr, mod
			n.do(t, r)
		}
		write := func(attr mad.AttrID, mod uint32, change func(data *[mad.DataSize]byte)) {
			r := to
			r.Attr, r.Mod = attr, mod
			r.Data = n.do(t, r)
			r.Method = mad.MethodSet
			change(&r.Data)
			n.do(t, r)
		}
		ask(mad.AttrNodeDescription, 0)
		ask(mad.AttrNodeInfo, 0)
		write(mad.AttrPortInfo, 0, func(b *[mad.DataSize]byte) {
			var info mad.PortInfo
			_ = info.UnmarshalBinary(b[:])
			info.MKey, info.PortState, info.PhysState = key, 0, 0
			*b = mad.Data(&info)
		})
		if to.Path == host || to.LID == n.f.Ports[far].LID {
			continue
		}
		ask(mad.AttrPortInfo, 2)
		write(mad.AttrSwitchInfo, 0, func(b *[mad.DataSize]byte) {})
		write(mad.AttrLinearForwardingTable, 0, func(b *[mad.DataSize]byte) { b[60] = 3 })
		write(mad.AttrLinearForwardingTable, 700, func(b *[mad.DataSize]byte) { b[1], b[2] = 1, 2 })
	}
}

// TestSMPs checks that tshark finds all requests and answers in a capture.
func TestSMPs(t *testing.T) {
	n := newSubnet(t)
	n.talk(t)
	want := Stats{Sent: uint64(len(n.done)), Received: uint64(len(n.done))}
	if got := stop(t, n.at); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	noKey(t, n.file)
	wellFormed(t, n.file)
	header := tshark(t, n.file, "lrh.vl", "lrh.sl", "lrh.slid", "lrh.dlid", "lrh.pktlen", "bth.opcode", "bth.p_key",
		"bth.destqp",
		"deth.q_key", "deth.srcqp", "mad.mgmtclass", "mad.method", "mad.attributeid", "mad.attributemodifier")
	byLID := tshark(t, n.file, "smplid.mkey", "smplid.smpdata")
	directed := tshark(t, n.file, "smplid.mkey", "smpdirected.hopcount", "smpdirected.hoppointer",
		"smpdirected.drslid", "smpdirected.drdlid", "smpdirected.initialpath")
	attrs := map[mad.AttrID][][]string{}
	for attr, fields := range attrFields {
		attrs[attr] = tshark(t, n.file, fields...)
	}
	if len(header) != 2*len(n.done) {
		t.Fatalf("tshark sees %d packets, want %d", len(header), 2*len(n.done))
	}
	own := uint64(n.f.Ports[n.f.SMPort].LID)
	for i := range header {
		x := n.done[i/2]
		answer := i%2 == 1
		slid, dlid, class := uint64(mad.PermissiveLID), uint64(mad.PermissiveLID), mad.ClassSMPDirected
		if x.req.LID != 0 {
			slid, dlid, class = own, uint64(x.req.LID), mad.ClassSMPLID
		}
		method := max(x.req.Method, mad.MethodGet)
		data := x.req.Data
		if answer {
			slid, dlid = dlid, slid
			method, data = mad.MethodGetResp, x.data
		}
		compare(t, i, header[i], 15, 0, slid, dlid, 72, 0x64, 0xffff, 0, 0, 0, uint64(class), uint64(method),
			uint64(x.req.Attr), uint64(x.req.Mod))
		if x.req.LID == 0 {
			var route [mad.MaxHops + 1]byte
			for h := range x.req.Path.Len() {
				route[h+1] = x.req.Path.Hop(h)
			}
			compare(t, i, directed[i][:5], 0, uint64(x.req.Path.Len()), 0, mad.PermissiveLID, mad.PermissiveLID)
			if want := hex.EncodeToString(route[:]); directed[i][5] != want {
				t.Errorf("packet %d: initial path %s, want %s", i, directed[i][5], want)
			}
		} else {
			compare(t, i, byLID[i][:1], 0)
		}
		if method == mad.MethodGet {
			continue // tshark decodes the data of requests, too, but they are 0
		}
		compareAttr(t, i, x.req.Attr, attrs[x.req.Attr][i], data)
	}
}

// attrFields holds tshark's names of the fields that compareAttr compares.
var attrFields = map[mad.AttrID][]string{
	mad.AttrNodeDescription: {"nodedescription.nodestring"},
	mad.AttrNodeInfo: {"nodeinfo.nodetype", "nodeinfo.numports", "nodeinfo.nodeguid", "nodeinfo.portguid",
		"nodeinfo.systemimageguid", "nodeinfo.partitioncap", "nodeinfo.localportnum", "nodeinfo.revision"},
	mad.AttrPortInfo: {"portinfo.m_key", "portinfo.lid", "portinfo.mastersmlid", "portinfo.capabilitymask",
		"portinfo.localportnum",
		"portinfo.portstate", "portinfo.portphysicalstate", "portinfo.linkwidthactive", "portinfo.lmc",
		"portinfo.m_keyleaseperiod",
		"portinfo.neighbormtu", "portinfo.operationalvls", "portinfo.guidcap"},
	mad.AttrSwitchInfo: {"switchinfo.linearfdbcap", "switchinfo.linearfdbtop", "switchinfo.multicastfdbcap",
		"switchinfo.portstatechange"},
	mad.AttrLinearForwardingTable: {"linearforwardingtable.port"},
}

// compareAttr compares an attribute decoded by tshark with our decoders.
func compareAttr(t *testing.T, packet int, attr mad.AttrID, got []string, data [mad.DataSize]byte) {
	t.Helper()
	switch attr {
	case mad.AttrNodeDescription:
		if want := strings.TrimRight(string(data[:]), "\x00"); got[0] != want {
			t.Errorf("packet %d: description %q, want %q", packet, got[0], want)
		}
	case mad.AttrNodeInfo:
		var a mad.NodeInfo
		_ = a.UnmarshalBinary(data[:])
		compare(t, packet, got, uint64(a.Type), uint64(a.NumPorts), a.NodeGUID, a.PortGUID,
			a.SystemImageGUID, uint64(a.PartitionCap), uint64(a.LocalPort), uint64(a.Revision))
	case mad.AttrPortInfo:
		var a mad.PortInfo
		_ = a.UnmarshalBinary(data[:])
		compare(t, packet, got, 0, uint64(a.LID), uint64(a.MasterSMLID), uint64(a.CapabilityMask), uint64(a.LocalPort),
			uint64(a.PortState), uint64(a.PhysState), uint64(a.LinkWidthActive), uint64(a.LMC),
			uint64(a.MKeyLeasePeriod),
			uint64(a.NeighborMTU), uint64(a.OperVLs), uint64(a.GUIDCap))
	case mad.AttrSwitchInfo:
		var a mad.SwitchInfo
		_ = a.UnmarshalBinary(data[:])
		change := uint64(0)
		if a.PortStateChange {
			change = 1
		}
		compare(t, packet, got, uint64(a.LinearFDBCap), uint64(a.LinearFDBTop), uint64(a.MulticastFDBCap), change)
	case mad.AttrLinearForwardingTable:
		want := make([]uint64, len(data))
		for i, port := range data {
			want[i] = uint64(port)
		}
		compare(t, packet, strings.Split(got[0], ";"), want...)
	default:
		t.Errorf("packet %d: not compared: %v", packet, attr)
	}
}

// compare compares numeric fields.
func compare(t *testing.T, packet int, got []string, want ...uint64) {
	t.Helper()
	var have []uint64
	for _, s := range got {
		have = append(have, number(t, s))
	}
	if !slices.Equal(have, want) {
		t.Errorf("packet %d: %#x, want %#x", packet, have, want)
	}
}

// noKey fails the test if the file contains the key or a part of it.
func noKey(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	full := binary.BigEndian.AppendUint64(nil, key)
	for from := range 6 {
		if at := bytes.Index(b, full[from:from+3]); at >= 0 {
			t.Errorf("%s: a part of the key at byte %d, in packet %d", file, at, (at-fileHeaderLen)/recordLen)
		}
	}
}
