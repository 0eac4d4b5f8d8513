// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// checkGSIAttribute is [checkAttribute] for general services: b holds the attribute's bytes, and more may follow.
func checkGSIAttribute[T comparable, P gsiAttributeOf[T]](t *testing.T, b []byte, size int, want T) {
	t.Helper()
	b = append(b, make([]byte, max(0, size-len(b)))...)
	var got T
	if err := P(&got).UnmarshalBinary(append(bytes.Clone(b), 0xee)); err != nil {
		t.Fatalf("decode: %v", err)
	}
	if got != want {
		t.Errorf("decoded\n%+v, want\n%+v", got, want)
	}
	again, err := P(&want).AppendBinary([]byte("before"))
	if err != nil || !bytes.Equal(again, append([]byte("before"), b...)) {
		t.Errorf("encoded\n%x, %v, want\n%x", again, err, b)
	}
	untouched := want
	if err := P(&untouched).UnmarshalBinary(b[:size-1]); !errors.Is(err, ErrLength) || untouched != want {
		t.Errorf("decode %d bytes: %v, want %v", size-1, err, ErrLength)
	}
}

// fuzzGSIAttribute checks that a decoded attribute does not change when it is encoded and decoded again.
func fuzzGSIAttribute[T comparable, P gsiAttributeOf[T]](f *testing.F) {
	f.Add(bytes.Repeat([]byte{0xff}, Size-OffData))
	f.Add([]byte("too short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var first, second T
		if P(&first).UnmarshalBinary(b) != nil {
			return
		}
		again, err := P(&first).AppendBinary(nil)
		if err != nil || len(again) > len(b) {
			t.Fatalf("%d bytes became %d, %v", len(b), len(again), err)
		}
		if err := P(&second).UnmarshalBinary(again); err != nil || second != first {
			t.Fatalf("decoded again: %+v, %v, want %+v", second, err, first)
		}
	})
}

func TestClassPortInfo(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Answer of ibsim 0.10 for a switch; perfquery prints CapMask: 0x1300.
		checkGSIAttribute(t, golden(t, `01011300 00000012`), ClassPortInfoSize,
			ClassPortInfo{
				BaseVersion: 1, ClassVersion: 1, CapabilityMask: PerfAllPortSelect | PerfExtendedWidth | PerfXmitWait,
				RespTime: 18,
			})
	})
	t.Run("opensm", func(t *testing.T) {
		// Answer of OpenSM 3.3.23; saquery -c prints the same.
		b := golden(t, `01022602 0016bd10 00000000000000000000000000000000 00000000 0000 0000 00000001 80010000
			00000000000000000000000000000000 00000000 0000 0000 00000000 80010000`)
		checkGSIAttribute(t, b, ClassPortInfoSize, ClassPortInfo{
			BaseVersion: 1, ClassVersion: 2, CapabilityMask: 0x2602, CapabilityMask2: 0xb5e8, RespTime: 16,
			Redirect: AgentAddress{QP: 1, QKey: QKey1}, Trap: AgentAddress{QKey: QKey1},
		})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
		b := golden(t, `0102 1234 89abcdf3 fe800000000000000002c90300b00031 ab 7fedcb 1122 8001 00 654321 80010000
			fe800000000000000002c90300b00041 cd 8abcde 3344 ffff 3f 123456 81020304`)
		checkGSIAttribute(t, b, ClassPortInfoSize, ClassPortInfo{
			BaseVersion: 1, ClassVersion: 2, CapabilityMask: 0x1234, CapabilityMask2: 0x89abcdf3 >> 5, RespTime: 19,
			Redirect: AgentAddress{
				GID: NewGID(DefaultGIDPrefix, 0x0002c90300b00031), TrafficClass: 0xab, SL: 7, FlowLabel: 0xfedcb,
				LID: 0x1122, PKey: 0x8001, QP: 0x654321, QKey: QKey1,
			},
			Trap: AgentAddress{
				GID: NewGID(DefaultGIDPrefix, 0x0002c90300b00041), TrafficClass: 0xcd, SL: 8, FlowLabel: 0xabcde,
				LID: 0x3344, PKey: PKeyDefault, HopLimit: 0x3f, QP: 0x123456, QKey: 0x81020304,
			},
		})
	})
}

func TestPortCounters(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Answer of ibsim 0.10 for port 1 of LID 1.
		b := golden(t, `00010000 00000000 00000000 00000000 00000000 00000000 000016c8 00001b90 00000051 00000062`)
		checkGSIAttribute(t, b[:portCountersSize], portCountersSize,
			PortCounters{PortSelect: 1, XmitData: 5832, RcvData: 7056, XmitPackets: 81, RcvPackets: 98})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by the table of libibmad (rdma-core, libibmad/fields.c), QP1Dropped
		// by IBA 1.2.1, 16.1.3.5.
		b := golden(t, `5a 11 2233 4455 66 77 8899 aabb ccdd eeff 12 34 56 78 9abc def0
			11223344 55667788 99aabbcc ddeeff01 23456789`)
		checkGSIAttribute(t, b[:portCountersSize], portCountersSize, PortCounters{
			PortSelect: 0x11, CounterSelect: 0x2233, SymbolErrors: 0x4455, LinkErrorRecovery: 0x66, LinkDowned: 0x77,
			RcvErrors: 0x8899, RcvRemotePhysical: 0xaabb, RcvSwitchRelay: 0xccdd, XmitDiscards: 0xeeff,
			XmitConstraintErrors: 0x12, RcvConstraintErrors: 0x34, CounterSelect2: 0x56, LocalLinkIntegrity: 7,
			BufferOverruns: 8, QP1Dropped: 0x9abc, VL15Dropped: 0xdef0, XmitData: 0x11223344, RcvData: 0x55667788,
			XmitPackets: 0x99aabbcc, RcvPackets: 0xddeeff01, XmitWait: 0x23456789, spare: 0x5a,
		})
	})
}

func TestPortCountersExtended(t *testing.T) {
	t.Run("ibsim", func(t *testing.T) {
		// Answer of ibsim 0.10 for port 1 of LID 1.
		b := golden(t, `00010000 00000000 00000000000016c8 0000000000001bd8 0000000000000051 0000000000000063`)
		checkGSIAttribute(t, b, portCountersExtendedSize,
			PortCountersExtended{PortSelect: 1, XmitData: 5832, RcvData: 7128, XmitPackets: 81, RcvPackets: 99})
	})
	t.Run("all fields", func(t *testing.T) {
		// Laid out by hand from IBA 16.1.4.11 and the order of OpenSM's ib_port_counters_ext_t.
		b := []byte{0x5a, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}
		for i := range numExtended {
			b = append(b, 0, 0, 0, 0, 0, 0, 1, uint8(i))
		}
		checkGSIAttribute(t, b, portCountersExtendedSize, PortCountersExtended{
			PortSelect: 0x11, CounterSelect: 0x2233, CounterSelect2: 0x44556677,
			XmitData: 256, RcvData: 257, XmitPackets: 258, RcvPackets: 259,
			UnicastXmitPackets: 260, UnicastRcvPackets: 261, MulticastXmitPackets: 262, MulticastRcvPackets: 263,
			SymbolErrors: 264, LinkErrorRecovery: 265, LinkDowned: 266, RcvErrors: 267, RcvRemotePhysical: 268,
			RcvSwitchRelay: 269, XmitDiscards: 270, XmitConstraintErrors: 271, RcvConstraintErrors: 272,
			LocalLinkIntegrity: 273, BufferOverruns: 274, VL15Dropped: 275, XmitWait: 276, QP1Dropped: 277, spare: 0x5a,
		})
	})
}

func TestPortRcvErrorDetails(t *testing.T) {
	// Laid out by the table of libibmad (rdma-core, libibmad/fields.c).
	b := golden(t, `5a 11 2233 4455 6677 8899 aabb ccdd eeff`)
	checkGSIAttribute(t, b[:rcvErrorDetailsSize], rcvErrorDetailsSize, PortRcvErrorDetails{
		PortSelect: 0x11, CounterSelect: 0x2233, LocalPhysicalErrors: 0x4455, MalformedPackets: 0x6677,
		BufferOverruns: 0x8899, DLIDMappingErrors: 0xaabb, VLMappingErrors: 0xccdd, LoopingErrors: 0xeeff, spare: 0x5a,
	})
}

func TestPortSamplesControl(t *testing.T) {
	// Laid out by the table of libibmad (rdma-core, libibmad/fields.c), bit offsets: PortSelect 8, Tick 16, OptionMask
	// 96, each from the highest bit.
	b := make([]byte, portSamplesControlSize)
	for i := range b {
		b[i] = uint8(0x80 + i)
	}
	want := PortSamplesControl{PortSelect: 0x81, Tick: 0x82, OptionMask: 0x8c8d8e8f90919293}
	copy(want.data[:], b)
	want.data[1], want.data[2] = 0, 0
	clear(want.data[12:20])
	checkGSIAttribute(t, b, portSamplesControlSize, want)
}

func FuzzPortSamplesControl(f *testing.F)   { fuzzGSIAttribute[PortSamplesControl](f) }
func FuzzPortRcvErrorDetails(f *testing.F)  { fuzzGSIAttribute[PortRcvErrorDetails](f) }
func FuzzClassPortInfo(f *testing.F)        { fuzzGSIAttribute[ClassPortInfo](f) }
func FuzzPortCounters(f *testing.F)         { fuzzGSIAttribute[PortCounters](f) }
func FuzzPortCountersExtended(f *testing.F) { fuzzGSIAttribute[PortCountersExtended](f) }

// answerGSI returns the answer to f with a status and the bytes b at offset at.
func answerGSI(f Frame, status Status, at int, b []byte) Frame {
	f.Data[OffMethod] |= uint8(MethodResponse)
	f.Data[OffStatus], f.Data[OffStatus+1] = uint8(status>>8), uint8(status)
	copy(f.Data[at:], b)
	f.SLID, f.Status = f.DLID, 0
	return f
}

func TestPerf(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer {
		return []answer{at(0, answerGSI(f, StatusOK, OffData+24, []byte{0, 0, 0x16, 0xc8}))}
	})
	c := newTestClient(t, a, ClientOptions{})
	got, err := Perf(t.Context(), c, MethodGet, 17, 3, PortCounters{PortSelect: 5})
	if want := (PortCounters{PortSelect: 5, XmitData: 5832}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	f := a.frames()[0]
	if f.DLID != 17 || f.QP != QP1 || f.SL != 3 {
		t.Errorf("sent to LID %d, QP %d by SL %d", f.DLID, f.QP, f.SL)
	}
	want := [Size]byte{0: 1, 1: 4, 2: 1, 3: 1, 16: 0, 17: 0x12, 65: 5} // by hand from IBA 13.4.2 and 16.1.3.5
	copy(want[OffTID:], f.Data[OffTID:OffTID+8])
	if f.Data != want {
		t.Errorf("sent\n%x, want\n%x", f.Data, want)
	}
}

// A Set that exceeds the data area of an SMP is sent completely.
func TestSetPerfIsLong(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer { return []answer{at(0, answerGSI(f, StatusOK, 0, nil))} })
	c := newTestClient(t, a, ClientOptions{})
	sent := PortCountersExtended{PortSelect: 1, CounterSelect: 0xffff, QP1Dropped: 77}
	got, err := Perf(t.Context(), c, MethodSet, 17, 0, sent)
	if err != nil || got != sent {
		t.Errorf("came back as %+v, %v", got, err)
	}
	if m := Method(a.frames()[0].Data[OffMethod]); m != MethodSet {
		t.Errorf("sent as %v", m)
	}
}

func TestGSIErrors(t *testing.T) {
	a := newAgent(func(_ int, f Frame) []answer {
		return []answer{at(0, answerGSI(f, StatusInvalidValue, 100, []byte{9}))}
	})
	c := newTestClient(t, a, ClientOptions{})
	req := PerfRequest(MethodGet, 9, 0, &PortCounters{PortSelect: 40})
	called := false
	err := c.Ask(t.Context(), &req, func(r *Reply) error {
		called = r.MAD[100] == 9 && r.Request == &req
		return r.Err
	})
	const want = "PortCounters at LID 9: invalid value in attribute or modifier (MAD status 0x001c)"
	if !called || !errors.Is(err, StatusInvalidValue) || err.Error() != want {
		t.Errorf("called %v, error %v, want %s", called, err, want)
	}
	nowhere := PerfRequest(MethodGet, 0, 0, &PortCounters{})
	if _, err := c.Do(t.Context(), &nowhere); !errors.Is(err, errNoLID) || len(a.frames()) != 1 {
		t.Errorf("without a LID: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Ask(ctx, &req, func(*Reply) error {
		t.Error("called")
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAttrName(t *testing.T) {
	for _, x := range []struct {
		attr  AttrID
		class Class
		want  string
	}{
		{0x12, 0, "SwitchInfo"}, {0x12, ClassSMPDirected, "SwitchInfo"}, {0x12, ClassPerf, "PortCounters"},
		{0x12, ClassSA, "PortInfoRecord"}, {1, ClassSA, "ClassPortInfo"}, {0x77, ClassSA, "SA attribute 0x0077"},
		{0x77, ClassPerf, "attribute 0x0077 of class 0x04"},
	} {
		if got := x.attr.Name(x.class); got != x.want {
			t.Errorf("0x%02x of class 0x%02x is %q, want %q", uint16(x.attr), uint8(x.class), got, x.want)
		}
	}
}
