// SPDX-License-Identifier: Apache-2.0

package write

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Control changes the physical state, the enabled widths or the enabled speeds of a port, as ibportstate does. A value
// of 0 stays unchanged. The fields GUID to Old are journaled; the index Port is that of a fabric.
type Control struct {
	Port  fabric.PortIndex `json:"-"`
	GUID  uint64           `json:"guid"` // of the node
	Num   uint8            `json:"port"`
	Phys  mad.PhysState    `json:"phys,omitempty"`  // PhysDisabled or PhysPolling
	Reset bool             `json:"reset,omitempty"` // write PhysPolling even if the port is not disabled
	Width mad.LinkWidth    `json:"width,omitempty"`
	Speed uint8            `json:"speed,omitempty"` // LinkSpeedEnabled
	Ext   uint8            `json:"ext,omitempty"`   // LinkSpeedExtEnabled
	Ext2  uint8            `json:"ext2,omitempty"`  // LinkSpeedExt2Enabled
	// Caps are the capabilities of the port, for a switch those of port 0.
	Caps mad.CapabilityMask `json:"caps,omitempty"`
	// Old is the PortInfo before the change, 64 bytes.
	Old []byte `json:"old,omitempty"`
}

// After returns a PortInfo with the widths and speeds that the change enables.
func (c *Control) After(info mad.PortInfo) mad.PortInfo {
	info.LinkWidthEnabled = cmp.Or(c.Width, info.LinkWidthEnabled)
	info.LinkSpeedEnabled = cmp.Or(c.Speed, info.LinkSpeedEnabled)
	info.LinkSpeedExtEnabled = cmp.Or(c.Ext, info.LinkSpeedExtEnabled)
	info.LinkSpeedExt2Enabled = cmp.Or(c.Ext2, info.LinkSpeedExt2Enabled)
	return info
}

// The values of Control that enable all supported widths and speeds.
const (
	AllWidths = mad.AllWidthsEnabled
	AllSpeeds = 15
	AllExt    = 31
	AllExt2   = 7
)

const extField = "LinkSpeedExtEnabled"

// Check implements [Item].
func (c *Control) Check(f *fabric.Fabric) error {
	if err := checkPort(f, c.Port); err != nil {
		return err
	}
	n := &f.Nodes[f.Ports[c.Port].Node]
	switch {
	case f.Ports[c.Port].Num == 0:
		return fmt.Errorf("%s: port 0 %w: the switch is managed through it", f.PortName(c.Port), ErrUnfit)
	case n.GUID != c.GUID || f.Ports[c.Port].Num != c.Num:
		return fmt.Errorf("%s %w: it is not port %d of 0x%016x", f.PortName(c.Port), ErrUnfit, c.Num, c.GUID)
	case f.IsAggregation(f.Ports[c.Port].Node),
		f.PeerNode(c.Port) != fabric.None && f.IsAggregation(f.PeerNode(c.Port)):
		return fmt.Errorf("%s %w: it belongs to the link of an aggregation node inside a switch", f.PortName(c.Port),
			ErrUnfit)
	}
	return nil
}

// Target implements [Item].
func (c *Control) Target(*fabric.Fabric) fabric.PortIndex { return c.Port }

// Get implements [Item].
func (c *Control) Get(f *fabric.Fabric) mad.Request { return getPort(f, c.Port) }

// Set implements [Field]. A port that is not disabled is not enabled again, because this would take its link down.
func (c *Control) Set(now *mad.Reply, req *mad.Request) bool {
	info := portInfo(now)
	if !c.Needed(&info) {
		return false
	}
	info = unchanged(info)
	info.PhysState = c.Phys
	info.LinkWidthEnabled, info.LinkSpeedEnabled = c.Width, c.Speed
	info.LinkSpeedExtEnabled, info.LinkSpeedExt2Enabled = c.Ext, c.Ext2
	sendPort(req, &info, c.Caps)
	return true
}

// Needed reports whether a write changes a port with this PortInfo.
func (c *Control) Needed(info *mad.PortInfo) bool {
	isDisabled := info.PhysState == mad.PhysDisabled
	needed := c.Reset || c.Phys == mad.PhysPolling && isDisabled || c.Phys == mad.PhysDisabled && !isDisabled
	c.fields(info, func(_ string, want, all, is, supported uint8) {
		needed = needed || want != is && (want != all || is != supported)
	})
	return needed
}

// fields calls the function do for each width or speed field to write.
func (c *Control) fields(info *mad.PortInfo, do func(name string, want, all, is, supported uint8)) {
	for _, x := range []struct {
		name                     string
		want, all, is, supported uint8
	}{
		{"LinkWidthEnabled", uint8(c.Width), uint8(AllWidths), uint8(info.LinkWidthEnabled),
			uint8(info.LinkWidthSupported)},
		{"LinkSpeedEnabled", c.Speed, AllSpeeds, info.LinkSpeedEnabled, info.LinkSpeedSupported},
		{extField, c.Ext, AllExt, info.LinkSpeedExtEnabled, info.LinkSpeedExtSupported},
		{"LinkSpeedExt2Enabled", c.Ext2, AllExt2, info.LinkSpeedExt2Enabled, info.LinkSpeedExt2Supported},
	} {
		if x.want != 0 {
			do(x.name, x.want, x.all, x.is, x.supported)
		}
	}
}

// Unsupported returns an error if the port with this PortInfo does not support a width or speed to write.
func (c *Control) Unsupported(info *mad.PortInfo) error {
	var err error
	c.fields(info, func(name string, want, all, _, supported uint8) {
		isNone := name == extField && want == mad.ExtSpeedsNone
		if want != all && !isNone && want&^supported != 0 {
			err = fmt.Errorf("%s 0x%x %w: the port supports 0x%x", name, want, ErrUnfit, supported)
		}
	})
	return err
}

// Conflicts implements [Field]. It compares the widths and speeds to write with those in Old. The physical state is not
// compared, because it also changes by itself.
func (c *Control) Conflicts(_ *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any)) {
	var old mad.PortInfo
	if old.UnmarshalBinary(c.Old) != nil {
		return
	}
	info, was := portInfo(now), map[string]uint8{}
	c.fields(&old, func(name string, _, _, is, _ uint8) { was[name] = is })
	c.fields(&info, func(name string, want, _, is, _ uint8) {
		compare(func() string { return fmt.Sprintf("%s of port %d", name, c.Num) }, was[name], is, want, add)
	})
}

// Verify implements [Item].
func (c *Control) Verify(_ *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	info := portInfo(now)
	what := fmt.Sprintf("physical state of port %d", c.Num)
	switch {
	case c.Phys == mad.PhysDisabled:
		compare(what, c.Phys, info.PhysState)
	case c.Phys == mad.PhysPolling && info.PhysState == mad.PhysDisabled:
		compare(what, c.Phys, info.PhysState)
	}
	c.fields(&info, func(name string, want, all, is, supported uint8) {
		if want != all || is != supported {
			compare(fmt.Sprintf("%s of port %d", name, c.Num), want, is)
		}
	})
}

// TakesDown reports whether the write takes a link down, at least for a while.
func (c *Control) TakesDown() bool { return c.Phys == mad.PhysDisabled || c.Reset }

// Undo returns the change that restores Old. A reset needs none, then ok is false.
func (c *Control) Undo() (undo Control, ok bool) {
	var old mad.PortInfo
	if old.UnmarshalBinary(c.Old) != nil {
		return Control{}, false
	}
	undo = Control{Port: c.Port, GUID: c.GUID, Num: c.Num, Caps: c.Caps}
	wasDisabled := old.PhysState == mad.PhysDisabled
	switch {
	case c.Phys == mad.PhysDisabled && !wasDisabled:
		undo.Phys = mad.PhysPolling
	case c.Phys == mad.PhysPolling && wasDisabled:
		undo.Phys = mad.PhysDisabled
	}
	c.fields(&old, func(name string, _, _, is, _ uint8) {
		switch name {
		case "LinkWidthEnabled":
			undo.Width = mad.LinkWidth(is)
		case "LinkSpeedEnabled":
			undo.Speed = is
		case extField:
			undo.Ext = is
		case "LinkSpeedExt2Enabled":
			undo.Ext2 = is
		}
	})
	return undo, undo.Phys != 0 || undo.Width != 0 || undo.Speed != 0 || undo.Ext != 0 || undo.Ext2 != 0
}

// Undo returns the changes that restore the ports before these changes, in the reverse order. If a port was reset
// together with a change, it is reset again, because the old widths and speeds take effect only then. The result is not
// nil.
func Undo(controls []Control) []Control {
	undo, resets := []Control{}, []Control{}
	for i := range slices.Backward(controls) {
		c := &controls[i]
		if u, ok := c.Undo(); ok {
			undo = append(undo, u)
		}
		isChanged := func(x Control) bool { return x.GUID == c.GUID && x.Num == c.Num && !x.Reset }
		if c.Reset && slices.ContainsFunc(controls, isChanged) {
			resets = append(resets, Control{Port: c.Port, GUID: c.GUID, Num: c.Num, Phys: c.Phys, Reset: true,
				Caps: c.Caps})
		}
	}
	return append(undo, resets...)
}

// String returns the change as text, for example "physical state Disabled".
func (c *Control) String() string {
	var words []string
	if c.Phys != 0 {
		words = append(words, "physical state "+c.Phys.String())
	}
	c.fields(&mad.PortInfo{}, func(name string, want, _, _, _ uint8) {
		words = append(words, fmt.Sprintf("%s 0x%x", name, want))
	})
	return strings.Join(words, ", ")
}
