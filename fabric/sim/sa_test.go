// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

const (
	getTable   mad.Method = 0x12
	nodeRecord mad.AttrID = 0x11
	portRecord mad.AttrID = 0x12
	smRecord   mad.AttrID = 0x18
	pathRecord mad.AttrID = 0x35
	membRecord mad.AttrID = 0x38

	smKey = 0x77
)

// managed is a routed subnet with a master subnet manager, and a client of its administration.
type managed struct {
	f *fabric.Fabric
	s *sim.Sim
	c *mad.Client
	// lid is the LID of the subnet administration.
	lid uint16
}

func newManaged(t *testing.T, spec string, sls fabric.PathSLs, opts mad.ClientOptions) *managed {
	t.Helper()
	f, err := fabric.AssignLIDs(generate(t, spec))
	if err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tables := *res.Tables
	tables.SLs = sls
	s := sim.New(f, sim.Options{Tables: &tables, Active: true, SendBack: true})
	last := f.EndPorts[len(f.EndPorts)-1]
	s.SetSM(last, &mad.SMInfo{GUID: f.Ports[last].GUID, SMKey: smKey, State: mad.SMMaster, Priority: 3})
	return &managed{f: f, s: s, c: dial(t, s, f.SMPort, opts), lid: f.Ports[last].LID}
}

// ask reads records; fill sets the components of mask.
func (m *managed) ask(t *testing.T, method mad.Method, attr mad.AttrID, mod uint32, mask, key uint64,
	fill func(record []byte)) (table []byte, err error) {
	t.Helper()
	req := mad.Request{Class: mad.ClassSA, Method: method, Attr: attr, Mod: mod, LID: m.lid, GSI: new(mad.GSI)}
	const offBody = 24
	binary.BigEndian.PutUint64(req.GSI.Body[36-offBody:], key)
	binary.BigEndian.PutUint64(req.GSI.Body[48-offBody:], mask)
	if fill != nil {
		fill(req.GSI.Body.SA())
	}
	err = m.c.Ask(t.Context(), &req, func(r *mad.Reply) error {
		table = append(table, r.Table...)
		if r.Table == nil && r.Err == nil {
			table = append(table, r.MAD[56:]...)
		}
		return r.Err
	})
	return table, err
}

func (m *managed) table(t *testing.T, attr mad.AttrID, size int, mask uint64,
	fill func(record []byte)) (records [][]byte) {
	t.Helper()
	b, err := m.ask(t, getTable, attr, 0, mask, 0, fill)
	if err != nil || len(b)%size != 0 {
		t.Fatalf("%v: %d bytes (%v), want whole records of %d", attr, len(b), err, size)
	}
	for ; len(b) > 0; b = b[size:] {
		records = append(records, b[:size])
	}
	return records
}

var be = binary.BigEndian

// TestNodeRecords reads one record for each end port, and by LID, type, GUID and name (IBA 1.2.1, 15.2.5.2).
func TestNodeRecords(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	all := m.table(t, nodeRecord, 112, 0, nil)
	if len(all) != len(m.f.EndPorts) {
		t.Fatalf("%d records, want %d", len(all), len(m.f.EndPorts))
	}
	byLID := map[uint16][]byte{}
	for _, r := range all {
		byLID[be.Uint16(r)] = r
	}
	for _, port := range m.f.EndPorts {
		p := &m.f.Ports[port]
		n := &m.f.Nodes[p.Node]
		r := byLID[p.LID]
		if r == nil {
			t.Fatalf("no record of LID %d", p.LID)
		}
		var info mad.NodeInfo
		_ = info.UnmarshalBinary(append(r[4:44:44], make([]byte, 24)...))
		if desc := mad.NewNodeDescription(n.Desc); info.NodeGUID != n.GUID || info.PortGUID != p.GUID ||
			info.Type != n.Type ||
			info.LocalPort != p.Num || [64]byte(r[44:108]) != desc {
			t.Errorf("LID %d: %+v %q, want %+v", p.LID, info, r[44:108], n)
		}
	}
	if got := m.table(t, nodeRecord, 112, 1<<4, func(r []byte) {
		r[6] = uint8(mad.NodeSwitch)
	}); len(got) != len(m.f.Switches) {
		t.Errorf("%d switches, want %d", len(got), len(m.f.Switches))
	}
	if got := m.table(t, nodeRecord, 112, 1<<0, func(r []byte) { be.PutUint16(r, m.lid) }); len(got) != 1 ||
		be.Uint16(got[0]) != m.lid {
		t.Errorf("by LID: %d records", len(got))
	}
	one, err := m.ask(t, mad.MethodGet, nodeRecord, 0, 1<<8, 0, func(r []byte) {
		be.PutUint64(r[24:], m.f.Ports[m.f.SMPort].GUID)
	})
	if err != nil || be.Uint16(one) != m.f.Ports[m.f.SMPort].LID {
		t.Errorf("by port GUID: LID %d (%v)", be.Uint16(one), err)
	}
	if _, err := m.ask(t, mad.MethodGet, nodeRecord, 0, 0, 0, nil); !errors.Is(err, mad.Status(0x400)) {
		t.Errorf("Get of many: %v", err)
	}
	if _, err := m.ask(t, mad.MethodGet, nodeRecord, 0, 1, 0, func(r []byte) {
		be.PutUint16(r, 4000)
	}); !errors.Is(err, mad.Status(0x300)) {
		t.Errorf("Get of none: %v", err)
	}
	if got := m.table(t, nodeRecord, 112, 1, func(r []byte) { be.PutUint16(r, 4000) }); len(got) != 0 {
		t.Errorf("a table of none: %d records", len(got))
	}
}

// TestPortInfoRecords reads all ports of switches, with hidden M_Keys; capabilities match as a subset with the highest
// bit of the modifier, as in saquery -s.
func TestPortInfoRecords(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	want := 0
	for _, port := range m.f.EndPorts {
		n := &m.f.Nodes[m.f.Ports[port].Node]
		want++
		if n.IsSwitch() {
			want += int(n.NumPorts)
		}
	}
	all := m.table(t, portRecord, 72, 0, nil)
	if len(all) != want {
		t.Errorf("%d records, want %d", len(all), want)
	}
	for _, r := range all {
		var info mad.PortInfo
		_ = info.UnmarshalBinary(r[4:68])
		if info.LocalPort != r[2] || info.MKey != 0 {
			t.Fatalf("port %d: %+v", r[2], info)
		}
	}
	hidden := mad.PortInfo{MKey: 0x123}
	req := mad.Request{Method: mad.MethodSet, Attr: mad.AttrPortInfo, Data: mad.Data(&hidden)}
	before, err := m.c.PortInfo(t.Context(), mad.Path{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	before.MKey, before.PortState, before.PhysState = 0x123, 0, 0
	req.Data = mad.Data(&before)
	if _, err := m.c.Do(t.Context(), &req); err != nil {
		t.Fatal(err)
	}
	own := m.table(t, portRecord, 72, 1<<5, func(r []byte) { be.PutUint16(r[20:], before.LID) })
	if len(own) != 1 || be.Uint64(own[0][4:]) != 0 {
		t.Errorf("the M_Key is not hidden: %x", own)
	}
	active := m.table(t, portRecord, 72, 1<<15|1<<1, func(r []byte) { r[2], r[36] = 1, uint8(mad.PortActive) })
	for _, r := range active {
		if r[2] != 1 || r[36]&0xf != uint8(mad.PortActive) {
			t.Errorf("port %d, state %d, want port 1 and Active", r[2], r[36]&0xf)
		}
	}
	if len(active) == 0 || len(active) == len(all) {
		t.Errorf("%d of %d are port 1 and Active", len(active), len(all))
	}
	isSM := func(r []byte) { be.PutUint32(r[24:], uint32(mad.CapIsSM)) }
	if got, err := m.ask(t, getTable, portRecord, 1<<31, 1<<7, 0, isSM); err != nil || len(got) != 72 ||
		be.Uint16(got) != m.lid {
		t.Errorf("with a subnet manager: %x (%v), want LID %d", got, err, m.lid)
	}
	if got, err := m.ask(t, getTable, portRecord, 0, 1<<7, 0, isSM); err != nil || len(got) != 0 {
		t.Errorf("with that capability alone: %x (%v), want none", got, err)
	}
}

// TestSMInfoRecords reads subnet managers, without their keys.
func TestSMInfoRecords(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	m.s.SetSM(m.f.SMPort, &mad.SMInfo{GUID: 5, SMKey: 9, State: mad.SMStandby, Priority: 1, ActCount: 17})
	all := m.table(t, smRecord, 32, 0, nil)
	if len(all) != 2 {
		t.Fatalf("%d records, want 2", len(all))
	}
	standby := m.table(t, smRecord, 32, 1<<6, func(r []byte) { r[24] = uint8(mad.SMStandby) })
	if len(standby) != 1 || be.Uint16(standby[0]) != m.f.Ports[m.f.SMPort].LID || be.Uint64(standby[0][4:]) != 5 ||
		be.Uint64(standby[0][12:]) != 0 || be.Uint32(standby[0][20:]) != 17 ||
		standby[0][24] != 1<<4|uint8(mad.SMStandby) {
		t.Errorf("%x", standby)
	}
}

// oddSLs has SL 3 for odd destinations.
type oddSLs struct{}

func (oddSLs) SL(_, dst uint16) uint8 { return uint8(dst%2) * 3 }

// TestPathRecords reads paths by the tables, with the SLs of the tables and the limits of the slowest link.
func TestPathRecords(t *testing.T) {
	m := newManaged(t, "fattree:2,8", oddSLs{}, once)
	src := m.f.Ports[m.f.SMPort]
	sgid := mad.NewGID(mad.DefaultGIDPrefix, src.GUID)
	from := func(r []byte) { copy(r[24:], sgid[:]) }
	all := m.table(t, pathRecord, 64, 1<<3, from)
	if len(all) != len(m.f.EndPorts) {
		t.Fatalf("%d paths, want %d", len(all), len(m.f.EndPorts))
	}
	for _, r := range all {
		dlid, slid, sl := be.Uint16(r[40:]), be.Uint16(r[42:]), be.Uint16(r[52:])
		dst := m.f.Ports[m.f.EndPorts[portOf(t, m.f, dlid)]]
		dgid := mad.NewGID(mad.DefaultGIDPrefix, dst.GUID)
		if slid != src.LID || mad.GID(r[24:40]) != sgid || mad.GID(r[8:24]) != dgid || sl != dlid%2*3 {
			t.Errorf("path %x", r)
		}
	}
	// A link with MTU 256 limits the path.
	via := m.f.Ports[src.Peer]
	info, err := mad.Get[mad.PortInfo](t.Context(), m.c, path(t, src.Num), uint32(via.Num))
	if err != nil {
		t.Fatal(err)
	}
	mtu := m.table(t, pathRecord, 64, 1<<3|1<<16|1<<17, func(r []byte) { from(r); r[54] = 0<<6 | uint8(mad.MTU256) })
	if len(mtu) == 0 {
		t.Error("no path with an MTU above 256")
	}
	info.NeighborMTU, info.PortState, info.PhysState = mad.MTU256, 0, 0
	if _, err := mad.Set(t.Context(), m.c, path(t, src.Num), uint32(via.Num), info); err != nil {
		t.Fatal(err)
	}
	// In the other direction the last link has MTU 256.
	dst := m.f.Ports[m.f.EndPorts[len(m.f.EndPorts)-1]]
	back, err := m.ask(t, mad.MethodGet, pathRecord, 0, 1<<4|1<<5|1<<12, 0, func(r []byte) {
		be.PutUint16(r[40:], src.LID)
		be.PutUint16(r[42:], dst.LID)
		r[49] = 1
	})
	if err != nil || back[54] != 2<<6|uint8(mad.MTU256) {
		t.Errorf("MTU %#x (%v), want exactly 256", back[54], err)
	}
	if to := m.table(t, pathRecord, 64, 1<<2, func(r []byte) { copy(r[8:], sgid[:]) }); len(to) != len(all) {
		t.Errorf("%d paths from anywhere, want %d", len(to), len(all))
	}
	if _, err := m.ask(t, getTable, pathRecord, 0, 0, 0, nil); !errors.Is(err, mad.Status(0x600)) {
		t.Errorf("from anywhere to anywhere: %v", err)
	}
}

func portOf(t *testing.T, f *fabric.Fabric, lid uint16) int {
	t.Helper()
	for i, port := range f.EndPorts {
		if f.Ports[port].LID == lid {
			return i
		}
	}
	t.Fatalf("no port has LID %d", lid)
	return 0
}

// TestPathRates checks that the rate of a path is that of its slowest link (IBA 1.2.1, 15.2.5.16: 2 is 2.5 Gb/s, 3 is
// 10, 16 is 100, 17 is 200).
func TestPathRates(t *testing.T) {
	for _, test := range []struct {
		speed fabric.Speed
		width fabric.Width
		want  uint8
	}{{fabric.SDR, 1, 2}, {fabric.SDR, 4, 3}, {fabric.QDR, 4, 7}, {fabric.FDR, 4, 12}, {fabric.EDR, 4, 16},
		{fabric.HDR, 4, 17}, {fabric.NDR, 4, 21}, {fabric.XDR, 4, 23}} {
		var b fabric.Builder
		left, err := b.AddNode(fabric.Node{GUID: 0x10, Type: mad.NodeCA, NumPorts: 1, Desc: "left"})
		if err != nil {
			t.Fatal(err)
		}
		right, err := b.AddNode(fabric.Node{GUID: 0x20, Type: mad.NodeCA, NumPorts: 1, Desc: "right"})
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range []fabric.NodeIndex{left, right} {
			p := b.Port(n, 1)
			p.GUID, p.LID, p.Speed, p.Width = uint64(0x11+16*i), uint16(i+1), test.speed, test.width
		}
		if err := b.Connect(left, 1, right, 1); err != nil {
			t.Fatal(err)
		}
		f, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		s := sim.New(f, sim.Options{Active: true, SendBack: true})
		s.SetSM(f.Port(right, 1), &mad.SMInfo{State: mad.SMMaster})
		m := &managed{f: f, s: s, c: dial(t, s, f.Port(left, 1), once), lid: 2}
		r, err := m.ask(t, mad.MethodGet, pathRecord, 0, 1<<4|1<<5, 0, func(r []byte) { r[41], r[43] = 2, 1 })
		if err != nil || r[55] != 2<<6|test.want {
			t.Errorf("%v %dx: rate %#x (%v), want exactly %d", test.speed, test.width, r[55], err, test.want)
		}
	}
}

// TestMemberRecords reads one record for each group, with the SM_Key or a port one for each member.
func TestMemberRecords(t *testing.T) {
	m := newManaged(t, "fattree:2,8", nil, once)
	mgid := mad.GID{0xff, 0x12, 0x40, 0x1b, 15: 1}
	m.s.SetGroups([]sim.Group{
		{MCMemberRecord: sa.MCMemberRecord{
			MGID: mgid, MLID: 0xc000, QKey: 0xb1b, PKey: 0xffff, MTUSelector: sa.Exactly, MTU: mad.MTU2048,
			RateSelector: sa.Exactly, Rate: 3, SL: 5, Scope: 2, JoinState: sa.JoinFull,
		}, Members: m.f.EndPorts[:3]},
		{MCMemberRecord: sa.MCMemberRecord{MGID: mad.GID{0xff, 0x12, 15: 2}, MLID: 0xc001, MTU: mad.MTU4096, Rate: 3}},
	})
	all := m.table(t, membRecord, 56, 0, nil)
	if len(all) != 2 {
		t.Fatalf("%d groups, want 2", len(all))
	}
	if r := all[0]; mad.GID(r[:16]) != mgid || mad.GID(r[16:32]) != (mad.GID{}) || be.Uint32(r[32:]) != 0xb1b ||
		be.Uint16(r[36:]) != 0xc000 ||
		r[38] != 2<<6|uint8(mad.MTU2048) || be.Uint16(r[40:]) != 0xffff || r[42] != 2<<6|3 || r[44]>>4 != 5 ||
		r[48] != 2<<4|1 {
		t.Errorf("%x", r)
	}
	if got := m.table(t, membRecord, 56, 1<<4|1<<5, func(r []byte) {
		r[38] = 0<<6 | uint8(mad.MTU2048)
	}); len(got) != 1 || be.Uint16(got[0][36:]) != 0xc001 {
		t.Errorf("MTU above 2048: %x", got)
	}
	if got, err := m.ask(t, getTable, membRecord, 0, 0, smKey, nil); err != nil || len(got) != 3*56 {
		t.Errorf("members: %d bytes (%v), want 3 records", len(got), err)
	}
	member := mad.NewGID(mad.DefaultGIDPrefix, m.f.Ports[m.f.EndPorts[1]].GUID)
	if got := m.table(t, membRecord, 56, 1<<1, func(r []byte) { copy(r[16:], member[:]) }); len(got) != 1 ||
		mad.GID(got[0][16:32]) != member {
		t.Errorf("groups of a port: %x", got)
	}
}

// TestSARefusals checks which ports answer, and what is refused.
func TestSARefusals(t *testing.T) {
	m := newManaged(t, "fattree:2,4", nil, once)
	for _, test := range []struct {
		name   string
		method mad.Method
		attr   mad.AttrID
		mask   uint64
		key    uint64
		want   error
	}{
		{"a wrong SM_Key", getTable, nodeRecord, 0, 1, mad.ErrTimeout},
		{"the SM_Key", getTable, nodeRecord, 0, smKey, nil},
		{"an unknown attribute", getTable, 0x99, 0, 0, mad.StatusMethodAttrMismatch},
		{"an unknown method", mad.MethodSet, membRecord, 0, 0, mad.StatusMethodUnsupported},
		{"an unknown component", getTable, nodeRecord, 1 << 15, 0, mad.Status(0x200)},
		{"ClassPortInfo", mad.MethodGet, mad.AttrClassPortInfo, 0, 0, nil},
	} {
		if _, err := m.ask(t, test.method, test.attr, 0, test.mask, test.key, nil); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
	}
	m.s.SetSM(m.f.EndPorts[len(m.f.EndPorts)-1], &mad.SMInfo{State: mad.SMStandby})
	if _, err := m.ask(t, getTable, nodeRecord, 0, 0, 0, nil); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("a standby: %v", err)
	}
	m.lid = m.f.Ports[m.f.SMPort].LID
	if _, err := m.ask(t, getTable, nodeRecord, 0, 0, 0, nil); !errors.Is(err, mad.ErrTimeout) {
		t.Errorf("at a port without one: %v", err)
	}
}

// TestTablesInSegments checks that a large table arrives completely even if segments and acknowledgements are lost,
// repeated and late.
func TestTablesInSegments(t *testing.T) {
	for _, faults := range []sim.Faults{
		{},
		{Loss: 0.05, Seed: 1},
		{Repeat: 0.2, Delay: 3 * time.Millisecond, Seed: 2},
	} {
		t.Run(fmt.Sprintf("%+v", faults), func(t *testing.T) {
			m := newManaged(t, "fattree:2,36", nil, mad.ClientOptions{Timeout: time.Second, Tries: 20, Backoff: 1})
			want := m.table(t, portRecord, 72, 0, nil)
			m.s.SetFaults(faults)
			got := m.table(t, portRecord, 72, 0, nil)
			if len(got) != len(want) || len(got) < 1000 {
				t.Fatalf("%d records, want %d", len(got), len(want))
			}
			for i := range got {
				if string(got[i]) != string(want[i]) {
					t.Fatalf("record %d: %x, want %x", i, got[i], want[i])
				}
			}
		})
	}
}

// TestClient uses the client of subnet administrations.
func TestClient(t *testing.T) {
	m := newManaged(t, "fattree:2,36", oddSLs{}, mad.ClientOptions{})
	c := &sa.Client{MAD: m.c, LID: m.lid}
	ports, err := sa.GetTable(t.Context(), c, sa.PortInfoRecord{}, 0)
	if err != nil || len(ports) < 1000 {
		t.Errorf("%d ports (%v)", len(ports), err)
	}
	switches, err := sa.GetTable(t.Context(), c, sa.NodeRecord{Info: mad.NodeInfo{Type: mad.NodeSwitch}}, sa.NodeType)
	if err != nil || len(switches) != len(m.f.Switches) {
		t.Errorf("%d switches (%v), want %d", len(switches), err, len(m.f.Switches))
	}
	src := m.f.Ports[m.f.SMPort].LID
	path, err := sa.Get(t.Context(), c, sa.PathRecord{SLID: src, DLID: m.lid}, sa.PathSLID|sa.PathDLID)
	if err != nil || path.SLID != src || path.DLID != m.lid || path.SL != uint8(m.lid%2*3) || path.MTU != mad.MTU2048 {
		t.Errorf("%+v (%v)", path, err)
	}
	managers, err := sa.GetTable(t.Context(), c, sa.SMInfoRecord{}, 0)
	if err != nil || len(managers) != 1 || managers[0].LID != m.lid || managers[0].Info.Priority != 3 ||
		managers[0].Info.SMKey != 0 {
		t.Errorf("%+v (%v)", managers, err)
	}
}
