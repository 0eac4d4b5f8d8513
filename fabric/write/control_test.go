// SPDX-License-Identifier: Apache-2.0

package write_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// portInfo is the PortInfo of a port of a switch that runs at 4x HDR.
const portInfo = "" +
	"0000000000000000" + // 0 MKey
	"fe80000000000000" + // 8 GIDPrefix
	"0000" + "0000" + "00000000" + "0000" + "0000" + // 16 LID, SMLID, CapMask, DiagCode, MKeyLeasePeriod
	"24" + "03" + "1f" + "02" + // 28 LocalPort, LinkWidthEnabled, Supported, Active
	"74" + "52" + "00" + "47" + // 32 speeds supported and state, physical states, M_Key and LMC, speeds
	"50" + "44" + "00" + "08" + "08" + "05" + "e7" + "40" + // 36 MTU to VLs
	"0000" + "0000" + "0000" + "00" + "00" + // 44 violations, GUIDCap, subnet timeout
	"12" + "88" + "0000" + // 52 RespTime, error thresholds, MaxCreditHint
	"04" + "000000" + "0030" + "47" + "07" // 56 Ext2, latency, CapMask2, Ext active and supported, Ext enabled

// TestControlChangesOnlyItsFields checks the bytes of a Set, by the layout of PortInfo in IBA 14.2.5.6: the fields
// that ibportstate changes have the new values, the states, widths and speeds that stay are 0, and all other bytes are
// those that were read.
func TestControlChangesOnlyItsFields(t *testing.T) {
	old, err := hex.DecodeString(portInfo)
	if err != nil || len(old) != 64 {
		t.Fatal(len(old), err)
	}
	for _, c := range []struct {
		name    string
		control write.Control
		// The bytes 29, 32, 33, 35, 56 and 63, as hexadecimal digits.
		want string
		mod  uint32
	}{
		{"disable", write.Control{Phys: mad.PhysDisabled}, "00 70 32 40 00 00", 36},
		{"reset", write.Control{Phys: mad.PhysPolling, Reset: true}, "00 70 22 40 00 00", 36},
		{"width", write.Control{Width: mad.Width1x}, "01 70 02 40 00 00", 36},
		{"speed", write.Control{Speed: 3}, "00 70 02 43 00 00", 36},
		{"extended", write.Control{Ext: 2, Caps: mad.CapExtendedSpeeds}, "00 70 02 40 00 02", 36 | 1<<31},
		{"all", write.Control{Width: write.AllWidths, Speed: write.AllSpeeds, Ext: write.AllExt, Ext2: write.AllExt2},
			"ff 70 02 4f 07 1f", 36},
	} {
		var reply mad.Reply
		copy(reply.Data[:], old)
		reply.Request = &mad.Request{Attr: mad.AttrPortInfo}
		req := mad.Request{Attr: mad.AttrPortInfo, Mod: 36}
		if !c.control.Set(&reply, &req) {
			t.Fatalf("%s: nothing to write", c.name)
		}
		if req.Method != mad.MethodSet || req.Mod != c.mod {
			t.Errorf("%s: method %v, modifier 0x%x, want a Set with 0x%x", c.name, req.Method, req.Mod, c.mod)
		}
		want, err := hex.DecodeString(strings.ReplaceAll(c.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		expect := append([]byte{}, old...)
		for i, at := range []int{29, 32, 33, 35, 56, 63} {
			expect[at] = want[i]
		}
		if got := req.Data[:]; hex.EncodeToString(got) != hex.EncodeToString(expect) {
			t.Errorf("%s: sends\n%x, want\n%x", c.name, got, expect)
		}
	}
}

// TestControlLeavesAnEnabledPort checks that enabling a port that is not disabled sends nothing: a Set of Polling would
// take its link down.
func TestControlLeavesAnEnabledPort(t *testing.T) {
	old, _ := hex.DecodeString(portInfo)
	var reply mad.Reply
	copy(reply.Data[:], old)
	reply.Request = &mad.Request{Attr: mad.AttrPortInfo}
	enable := write.Control{Phys: mad.PhysPolling}
	if req := (mad.Request{}); enable.Set(&reply, &req) {
		t.Errorf("a port in the state LinkUp is enabled by %+v", req)
	}
	reply.Data[33] = 0x32 // Disabled
	if req := (mad.Request{}); !enable.Set(&reply, &req) {
		t.Error("a disabled port is not enabled")
	}
}

// TestControlUndo undoes a change of each kind, and compares the fields with those of the old PortInfo.
func TestControlUndo(t *testing.T) {
	old, _ := hex.DecodeString(portInfo)
	c := write.Control{GUID: 1, Num: 36, Phys: mad.PhysDisabled, Width: 1, Speed: 1, Ext: 1, Ext2: 1, Old: old}
	u, ok := c.Undo()
	if !ok || u.Phys != mad.PhysPolling || u.Width != 3 || u.Speed != 7 || u.Ext != 7 || u.Ext2 != 4 || u.Num != 36 {
		t.Errorf("undo is %+v, %v", u, ok)
	}
	reset := write.Control{Phys: mad.PhysPolling, Reset: true, Old: old}
	if u, ok := reset.Undo(); ok {
		t.Errorf("a reset leaves %+v to undo", u)
	}
}
