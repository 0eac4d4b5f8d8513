// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"errors"
	"testing"
	"time"

	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// keyed is a client of a switch whose port 0 has an M_Key.
type keyed struct {
	c   *mad.Client
	now time.Time
}

const mKey = 0xabcdef

func (k *keyed) ask(t *testing.T, method mad.Method, key uint64, a mad.Attribute) (out [mad.DataSize]byte, err error) {
	t.Helper()
	req := mad.Request{Method: method, Attr: a.AttrID(), Path: path(t, 1), MKey: key}
	if method == mad.MethodSet {
		req.Data = mad.Data(a)
	}
	return k.c.Do(t.Context(), &req)
}

func (k *keyed) info(t *testing.T) (info mad.PortInfo) {
	t.Helper()
	b, err := k.ask(t, mad.MethodGet, mKey, &info)
	if err != nil {
		t.Fatal(err)
	}
	_ = info.UnmarshalBinary(b[:])
	return info
}

func (k *keyed) protect(t *testing.T, level uint8, lease uint16) {
	t.Helper()
	info := k.info(t)
	info.PortState, info.PhysState, info.MKeyViolations = 0, 0, 0
	info.MKey, info.MKeyProtect, info.MKeyLeasePeriod = mKey, level, lease
	if _, err := k.ask(t, mad.MethodSet, mKey, &info); err != nil {
		t.Fatal(err)
	}
}

func newKeyed(t *testing.T) *keyed {
	t.Helper()
	f := chain(t)
	k := &keyed{now: time.Unix(0, 0)}
	k.c = dial(t, sim.New(f, sim.Options{SendBack: true, Now: func() time.Time { return k.now }}), f.SMPort, once)
	return k
}

// TestMKeyLevels checks what a wrong key permits at each level, for all attributes, and what is counted (IBA 1.2.1,
// 14.2.4.1).
func TestMKeyLevels(t *testing.T) {
	for level := range uint8(4) {
		k := newKeyed(t)
		k.protect(t, level, 0)
		for _, wrong := range []uint64{0, 1, ^uint64(0)} {
			for _, a := range []mad.Attribute{
				&mad.NodeInfo{}, &mad.PortInfo{}, &mad.SwitchInfo{}, &mad.LinearForwardingTable{},
			} {
				b, err := k.ask(t, mad.MethodGet, wrong, a)
				if refused := errors.Is(err, mad.ErrTimeout); refused != (level >= 2) {
					t.Errorf("level %d: Get %v with key %#x: %v", level, a.AttrID(), wrong, err)
				}
				if info, ok := a.(*mad.PortInfo); ok && err == nil {
					_ = info.UnmarshalBinary(b[:])
					if want := uint64(mKey) * uint64(1-level); info.MKey != want {
						t.Errorf("level %d returns M_Key %#x, want %#x", level, info.MKey, want)
					}
				}
			}
			for _, a := range []mad.Attribute{&mad.PortInfo{LID: 9}, &mad.SwitchInfo{LinearFDBTop: 9},
				&mad.LinearForwardingTable{1}} {
				if _, err := k.ask(t, mad.MethodSet, wrong, a); !errors.Is(err, mad.ErrTimeout) {
					t.Errorf("level %d: Set %v with key %#x: %v", level, a.AttrID(), wrong, err)
				}
			}
		}
		info := k.info(t)
		if want := map[bool]uint16{false: 3 * 3, true: 3 * 7}[level >= 2]; info.MKeyViolations != want ||
			info.LID != 0 {
			t.Errorf("level %d: %d violations, LID %d; want %d and no LID", level, info.MKeyViolations, info.LID, want)
		}
		var table mad.LinearForwardingTable
		b, err := k.ask(t, mad.MethodGet, mKey, &table)
		if _ = table.UnmarshalBinary(b[:]); err != nil || table[0] != mad.NoPort {
			t.Errorf("level %d: the table was written (%v)", level, err)
		}
	}
}

// TestMKeyLease checks that a violation starts the lease, a right key ends it, and its expiry removes the protection
// but not the key (IBA 1.2.1, 14.2.4.2).
func TestMKeyLease(t *testing.T) {
	k := newKeyed(t)
	violate := func() {
		t.Helper()
		if _, err := k.ask(t, mad.MethodSet, 1, &mad.PortInfo{}); !errors.Is(err, mad.ErrTimeout) {
			t.Errorf("a Set with a wrong key: %v", err)
		}
	}
	hidden := func(want bool) {
		t.Helper()
		_, err := k.ask(t, mad.MethodGet, 0, &mad.PortInfo{})
		if got := errors.Is(err, mad.ErrTimeout); got != want {
			t.Errorf("protected: %v (%v), want %v", got, err, want)
		}
	}
	k.protect(t, 2, 10)
	k.now = k.now.Add(time.Hour)
	hidden(true) // starts the lease
	k.now = k.now.Add(9 * time.Second)
	violate() // does not restart it
	k.info(t) // ends it
	k.now = k.now.Add(5 * time.Second)
	hidden(true) // starts it
	k.now = k.now.Add(10 * time.Second)
	hidden(false)
	violate()
	if info := k.info(t); info.MKey != mKey || info.MKeyProtect != 0 {
		t.Errorf("after the lease: key %#x, level %d", info.MKey, info.MKeyProtect)
	}

	k.protect(t, 3, 0)
	violate()
	k.now = k.now.Add(1000 * time.Hour)
	hidden(true) // a lease of 0 does not run out
}
