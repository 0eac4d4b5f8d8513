// SPDX-License-Identifier: Apache-2.0

package sa_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
)

// administration is a transport to a subnet that contains only a subnet administration, which knows some nodes and
// keeps the last member.
type administration struct {
	in     chan mad.Frame
	closed chan struct{}
	once   sync.Once
	smLID  uint16

	mu     sync.Mutex
	nodes  []sa.NodeRecord
	member sa.MCMemberRecord
	sent   map[uint64]*mad.Segmenter
	last   mad.Frame // last request
	header sa.Header // of that
}

func start(t *testing.T, smLID uint16, nodes int) (*administration, *mad.Client) {
	t.Helper()
	a := &administration{
		in: make(chan mad.Frame, 4096), closed: make(chan struct{}), smLID: smLID, sent: map[uint64]*mad.Segmenter{},
	}
	for i := range nodes {
		a.nodes = append(a.nodes, sa.NodeRecord{
			LID: uint16(i + 1), Info: mad.NodeInfo{NodeGUID: uint64(100 + i)},
			Description: mad.NewNodeDescription("node"),
		})
	}
	c, err := mad.NewClient(a, mad.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return a, c
}

func (a *administration) Send(f *mad.Frame) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	g := *f
	if f.QP == 0 {
		a.local(&g)
		return nil
	}
	tid, err := sa.ParseHeader(&f.Data)
	if err != nil {
		return err
	}
	h, record, err := sa.ParseRequest(&f.Data)
	if err != nil { // controls a segmented transfer
		s := a.sent[tid.TID]
		var out [mad.Size]byte
		if _, err := s.Take(&f.Data, &out); err != nil {
			return err
		}
		a.pass(&g, s)
		return nil
	}
	a.last, a.header = *f, h
	status, data, size := a.answer(&h, record)
	s := h.Answer(&g.Data, status, data, size)
	a.sent[h.TID] = s
	a.pass(&g, s)
	return nil
}

func (a *administration) pass(f *mad.Frame, s *mad.Segmenter) {
	if s == nil {
		a.in <- *f
		return
	}
	for s.Next(&f.Data) {
		a.in <- *f
	}
}

// local answers as the local port, which is port 2 of a channel adapter.
func (a *administration) local(f *mad.Frame) {
	var smp mad.SMP
	if err := smp.UnmarshalBinary(f.Data[:]); err != nil {
		return
	}
	var b []byte
	switch {
	case smp.Attr == mad.AttrNodeInfo:
		b, _ = (&mad.NodeInfo{Type: mad.NodeCA, LocalPort: 2}).AppendBinary(nil)
	case smp.Attr == mad.AttrPortInfo && smp.Mod == 2:
		b, _ = (&mad.PortInfo{LID: 50, MasterSMLID: a.smLID, MasterSMSL: 6}).AppendBinary(nil)
	default:
		smp.Status = mad.StatusInvalidValue
	}
	smp.Method, smp.Direction = mad.MethodGetResp, true
	copy(smp.Data[:], b)
	smp.Put(&f.Data)
	a.in <- *f
}

func (a *administration) answer(h *sa.Header, b []byte) (mad.Status, []byte, int) {
	switch {
	case h.Attr == sa.AttrNodeRecord:
		var want sa.NodeRecord
		if err := want.UnmarshalBinary(b); err != nil {
			return sa.InvalidRequest.MAD(), nil, 0
		}
		found := slices.Clone(a.nodes)
		if h.Mask&sa.NodeLID != 0 {
			found = slices.DeleteFunc(found, func(n sa.NodeRecord) bool { return n.LID != want.LID })
		}
		switch {
		case h.Method == mad.MethodGet && len(found) > 1:
			return sa.TooManyRecords.MAD(), nil, 0
		case len(found) == 0:
			return sa.NoRecords.MAD(), nil, 0
		}
		return mad.StatusOK, sa.AppendTable(nil, found), 112
	case h.Attr == sa.AttrMCMemberRecord:
		if err := a.member.UnmarshalBinary(b); err != nil || h.Mask == 0 {
			return sa.InsufficientComponents.MAD(), nil, 0
		}
		return mad.StatusOK, sa.AppendTable(nil, []sa.MCMemberRecord{a.member}), 56
	}
	return mad.StatusMethodAttrMismatch, nil, 0
}

func (a *administration) Recv(f *mad.Frame) error {
	select {
	case *f = <-a.in:
		return nil
	case <-a.closed:
		return errors.New("closed")
	}
}

func (a *administration) Close() error {
	a.once.Do(func() { close(a.closed) })
	return nil
}

func TestNew(t *testing.T) {
	a, m := start(t, 9, 3)
	c, err := sa.New(t.Context(), m)
	if err != nil || c.LID != 9 || c.SL != 6 {
		t.Fatalf("got %+v, %v", c, err)
	}
	c.SMKey, c.PKey = 0x1234, 3
	if _, err := sa.Get(t.Context(), c, sa.NodeRecord{LID: 2}, sa.NodeLID); err != nil {
		t.Fatal(err)
	}
	if f := a.last; f.DLID != 9 || f.QP != mad.QP1 || f.SL != 6 || f.PKey != 3 || a.header.SMKey != 0x1234 {
		t.Errorf("asked LID %d, QP %d, SL %d, P_Key %d, SM_Key %x", f.DLID, f.QP, f.SL, f.PKey, a.header.SMKey)
	}
	_, m = start(t, 0, 0)
	if _, err := sa.New(t.Context(), m); !errors.Is(err, sa.ErrNoSM) {
		t.Errorf("without a subnet manager: %v", err)
	}
}

func TestGet(t *testing.T) {
	_, m := start(t, 9, 3)
	c := &sa.Client{MAD: m, LID: 9}
	got, err := sa.Get(t.Context(), c, sa.NodeRecord{LID: 2}, sa.NodeLID)
	if err != nil || got.LID != 2 || got.Info.NodeGUID != 101 || got.Description.String() != "node" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = sa.Get(t.Context(), c, sa.NodeRecord{}, 0)
	const want = "NodeRecord at LID 9: class specific 0x04 (MAD status 0x0400): more than one record"
	if !errors.Is(err, sa.TooManyRecords) || !errors.Is(err, mad.Status(0x0400)) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := sa.Get(t.Context(), c, sa.NodeRecord{LID: 99}, sa.NodeLID); !errors.Is(err, sa.NoRecords) {
		t.Errorf("no such node: %v", err)
	}
	if _, err := sa.Get(t.Context(), c, sa.PathRecord{}, 0); !errors.Is(err, mad.StatusMethodAttrMismatch) {
		t.Errorf("unknown record: %v", err)
	}
}

func TestGetTable(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		a, m := start(t, 9, n)
		c := &sa.Client{MAD: m, LID: 9}
		got, err := sa.GetTable(t.Context(), c, sa.NodeRecord{}, 0)
		if err != nil || !slices.Equal(got, a.nodes) {
			t.Errorf("%d nodes came as %d, %v", n, len(got), err)
		}
		got, err = sa.GetTable(t.Context(), c, sa.NodeRecord{LID: 7777}, sa.NodeLID)
		if err != nil || len(got) != 0 {
			t.Errorf("none of %d nodes came as %d, %v", n, len(got), err)
		}
	}
	_, m := start(t, 9, 1000)
	c := &sa.Client{MAD: m, LID: 9, Limit: 10_000}
	if _, err := sa.GetTable(t.Context(), c, sa.NodeRecord{}, 0); !errors.Is(err, mad.RMPPNoResources) {
		t.Errorf("beyond the limit: %v", err)
	}
}

func TestSetAndDelete(t *testing.T) {
	a, m := start(t, 9, 0)
	c := &sa.Client{MAD: m, LID: 9}
	want := sa.MCMemberRecord{MGID: mad.GID{0xff, 0x12}, QKey: 7, JoinState: sa.JoinFull}
	for method, ask := range map[mad.Method]func() (sa.MCMemberRecord, error){
		mad.MethodSet: func() (sa.MCMemberRecord, error) {
			return sa.Ask(t.Context(), c, mad.MethodSet, want, sa.MemberMGID|sa.MemberJoinState)
		},
		mad.MethodDelete: func() (sa.MCMemberRecord, error) {
			return sa.Ask(t.Context(), c, mad.MethodDelete, want, sa.MemberMGID|sa.MemberJoinState)
		},
	} {
		got, err := ask()
		if err != nil || got != want || a.header.Method != method || a.header.Mask != 1<<0|1<<16 {
			t.Errorf("%v: got %+v, %v; sent %+v", method, got, err, a.header)
		}
	}
	if _, err := sa.Ask(t.Context(), c, mad.MethodSet, want, 0); !errors.Is(err, sa.InsufficientComponents) {
		t.Errorf("without components: %v", err)
	}
}

// A batch sends many requests at a time.
func TestBatch(t *testing.T) {
	_, m := start(t, 9, 50)
	c := &sa.Client{MAD: m, LID: 9}
	b := m.NewBatch(t.Context())
	found := 0
	for lid := range uint16(60) {
		b.Go(c.Request(mad.MethodGet, &sa.NodeRecord{LID: lid + 1}, sa.NodeLID, 0), func(r *mad.Reply) {
			records, err := sa.Records[sa.NodeRecord](r)
			switch {
			case lid >= 50 && errors.Is(err, sa.NoRecords):
			case err != nil || len(records) != 1 || records[0].LID != lid+1:
				t.Errorf("LID %d: %+v, %v", lid+1, records, err)
			default:
				found++
			}
		})
	}
	if err := b.Wait(); err != nil || found != 50 {
		t.Errorf("%d found, %v", found, err)
	}
}

// Records handles any answer.
func FuzzReply(f *testing.F) {
	f.Add(make([]byte, mad.Size), make([]byte, 224))
	f.Fuzz(func(t *testing.T, b, table []byte) {
		var m [mad.Size]byte
		copy(m[:], b)
		req := mad.Request{Method: mad.MethodGetTable}
		for _, r := range []mad.Reply{
			{Request: &req, MAD: &m}, {Request: &req, MAD: &m, Table: table}, {Request: &req},
			{Request: &req, MAD: &m, Table: table, Err: mad.ErrTruncated},
			{Request: &req, MAD: &m, Err: mad.Status(len(table))},
		} {
			if nodes, err := sa.Records[sa.NodeRecord](&r); len(nodes) > 1+len(table)/112 {
				t.Errorf("%d nodes of %d bytes, %v", len(nodes), len(table), err)
			}
		}
	})
}
