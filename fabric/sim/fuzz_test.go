// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"bytes"
	"testing"

	"example.org/ibconsole/fabric/sim"
	"example.org/ibconsole/mad"
)

// FuzzSend sends any packet: the subnet must answer or return it.
func FuzzSend(f *testing.F) {
	subnet := generate(f, "torus:2x2,1")
	for _, attr := range []mad.AttrID{
		mad.AttrNodeInfo, mad.AttrPortInfo, mad.AttrSwitchInfo, mad.AttrLinearForwardingTable, mad.AttrSMInfo, 0x99,
	} {
		for _, method := range []mad.Method{mad.MethodGet, mad.MethodSet, mad.MethodGetResp} {
			path, err := mad.Path{}.Append(1, 3)
			if err != nil {
				f.Fatal(err)
			}
			smp := mad.SMP{BaseVersion: 1, ClassVersion: 1, Method: method, Attr: attr, Mod: 1}
			smp.SetPath(path)
			var b [mad.Size]byte
			smp.Put(&b)
			f.Add(uint16(mad.PermissiveLID), uint32(0), bytes.Clone(b[:]))
			smp.Class = mad.ClassSMPLID
			smp.Put(&b)
			f.Add(uint16(2), uint32(0), bytes.Clone(b[:]))
		}
	}
	for _, attr := range []mad.AttrID{mad.AttrClassPortInfo, mad.AttrPortCounters, mad.AttrPortCountersExtended} {
		f.Add(uint16(2), uint32(mad.QP1), []byte{0: 1, 1: uint8(mad.ClassPerf), 2: 1, 3: 2, 17: uint8(attr), 65: 255,
			66: 0xff, 67: 0xff})
	}
	for _, attr := range []uint8{0x11, 0x12, 0x18, 0x35, 0x38} {
		for _, method := range []uint8{1, 0x12} {
			f.Add(uint16(1), uint32(mad.QP1), []byte{0: 1, 1: uint8(mad.ClassSA), 2: 2, 3: method, 17: attr, 55: 0x28,
				98: 0, 99: 1})
		}
	}
	s := sim.New(subnet, sim.Options{Active: true, SendBack: true})
	for i := range subnet.EndPorts {
		s.SetLID(subnet.EndPorts[i], uint16(i+1))
	}
	s.SetSM(subnet.SMPort, &mad.SMInfo{State: mad.SMMaster})
	s.SetGroups([]sim.Group{{Members: subnet.EndPorts}})
	s.SetCounters(subnet.SMPort, mad.PortCountersExtended{RcvData: 1 << 40})
	f.Fuzz(func(t *testing.T, dlid uint16, qp uint32, b []byte) {
		conn, err := s.Open(subnet.SMPort)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		frame := mad.Frame{DLID: dlid, QP: qp}
		copy(frame.Data[:], b)
		class, method := mad.Class(frame.Data[1]), frame.Data[3]
		sa := class == mad.ClassSA && qp == mad.QP1
		if sa && frame.Data[26]&mad.RMPPActive != 0 && frame.Data[25] != mad.RMPPData {
			if err := conn.Send(&frame); err != nil { // belongs to no transfer: no answer
				t.Fatal(err)
			}
			return
		}
		if err := conn.Send(&frame); err != nil {
			t.Fatal(err)
		}
		if err := conn.Recv(&frame); err != nil {
			t.Fatal(err)
		}
		want := uint8(mad.MethodGetResp)
		if sa {
			want = method | uint8(mad.MethodResponse)
		}
		if frame.Status == 0 && frame.Data[3] != want {
			t.Errorf("an answer with method %#x", frame.Data[3])
		}
	})
}
