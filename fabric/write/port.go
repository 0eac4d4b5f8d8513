// SPDX-License-Identifier: Apache-2.0

package write

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// LID assigns LIDs to an end port.
type LID struct {
	Port           fabric.PortIndex // an end port
	Old, New       uint16
	OldSM, NewSM   uint16 // the SM's LID in the port's PortInfo
	OldLMC, NewLMC uint8
}

// Check implements [Item].
func (l *LID) Check(f *fabric.Fabric) error {
	if err := checkPort(f, l.Port); err != nil {
		return err
	}
	switch {
	case f.EndPortOf(l.Port) != l.Port:
		return fmt.Errorf("%s: the LID %w: the port is not an end port", f.PortName(l.Port), ErrUnfit)
	case l.NewLMC > 7:
		return fmt.Errorf("%s: LMC %d %w: the highest is 7", f.PortName(l.Port), l.NewLMC, ErrUnfit)
	case l.New == 0 || int(l.New)+1<<l.NewLMC-1 > fabric.MaxUnicastLID:
		return fmt.Errorf("%s: LID %d with LMC %d %w: unicast LIDs are 1 to %d", f.PortName(l.Port), l.New, l.NewLMC,
			ErrUnfit, fabric.MaxUnicastLID)
	case l.New&(1<<l.NewLMC-1) != 0:
		return fmt.Errorf("%s: LID %d with LMC %d %w: it is not a multiple of %d", f.PortName(l.Port), l.New, l.NewLMC,
			ErrUnfit, 1<<l.NewLMC)
	}
	return nil
}

// Target implements [Item].
func (l *LID) Target(*fabric.Fabric) fabric.PortIndex { return l.Port }

// Get implements [Item].
func (l *LID) Get(f *fabric.Fabric) mad.Request { return getPort(f, l.Port) }

// Set implements [Field].
func (l *LID) Set(now *mad.Reply, req *mad.Request) bool {
	info := portInfo(now)
	if info.LID == l.New && info.MasterSMLID == l.NewSM && info.LMC == l.NewLMC {
		return false
	}
	info.LID, info.MasterSMLID, info.LMC = l.New, l.NewSM, l.NewLMC
	setPort(req, info, mad.PortNoChange, info.CapabilityMask)
	return true
}

// Conflicts implements [Field]. It ignores the SM LID, because a subnet manager may have changed it. It also ignores a
// port without a known LID. Such a port may have a LID that another port claims, too.
func (l *LID) Conflicts(f *fabric.Fabric, now *mad.Reply, add func(what string, was, is, would any)) {
	info := portInfo(now)
	num := f.Ports[l.Port].Num
	if l.Old == 0 {
		return
	}
	compare(func() string { return fmt.Sprintf("LID of port %d", num) }, l.Old, info.LID, l.New, add)
	compare(func() string { return fmt.Sprintf("LMC of port %d", num) }, l.OldLMC, info.LMC, l.NewLMC, add)
}

// Verify implements [Item].
func (l *LID) Verify(f *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	info := portInfo(now)
	num := f.Ports[l.Port].Num
	compare(fmt.Sprintf("LID of port %d", num), l.New, info.LID)
	compare(fmt.Sprintf("SM LID of port %d", num), l.NewSM, info.MasterSMLID)
	compare(fmt.Sprintf("LMC of port %d", num), l.NewLMC, info.LMC)
}

// State brings one end of a link up. If the port is already in the state New or a higher state, it is not changed.
type State struct {
	Port     fabric.PortIndex // either end of a link
	Old, New mad.PortState    // New is PortArmed or PortActive
}

// Check implements [Item].
func (s *State) Check(f *fabric.Fabric) error {
	if err := checkPort(f, s.Port); err != nil {
		return err
	}
	switch {
	case !f.Ports[s.Port].Linked():
		return fmt.Errorf("%s: state %v %w: the port has no link", f.PortName(s.Port), s.New, ErrUnfit)
	case s.New != mad.PortArmed && s.New != mad.PortActive:
		return fmt.Errorf("%s: state %v %w: only Armed and Active can be written", f.PortName(s.Port), s.New, ErrUnfit)
	}
	return nil
}

// Target implements [Item].
func (s *State) Target(*fabric.Fabric) fabric.PortIndex { return s.Port }

// Get implements [Item].
func (s *State) Get(f *fabric.Fabric) mad.Request { return getPort(f, s.Port) }

// Raise changes the request of Get into a request that sets the port to a state. The other fields have the values of
// info.
func (s *State) Raise(f *fabric.Fabric, info mad.PortInfo, to mad.PortState, req *mad.Request) {
	setPort(req, info, to, mad.CapabilityMask(f.Ports[f.EndPortOf(s.Port)].CapMask))
}

// Verify implements [Item].
func (s *State) Verify(f *fabric.Fabric, now *mad.Reply, compare func(what string, want, got any)) {
	info := portInfo(now)
	if info.PortState < s.New {
		compare(fmt.Sprintf("state of port %d", f.Ports[s.Port].Num), s.New, info.PortState)
	}
}

// portInfo decodes a valid answer to getPort.
func portInfo(now *mad.Reply) (info mad.PortInfo) {
	_ = now.Decode(&info)
	return info
}

func getPort(f *fabric.Fabric, port fabric.PortIndex) mad.Request {
	return mad.Request{Attr: mad.AttrPortInfo, Mod: uint32(f.Ports[port].Num)}
}

// knowsExtended is a bit in the modifier of PortInfo. It means that the sender supports extended speeds. Without it a
// port may ignore LinkSpeedExtEnabled (IBA 1.3, 14.2.5.6). OpenSM sets it for ports that support extended speeds.
const knowsExtended = 1 << 31

// setPort encodes a PortInfo that was read and then changed. The argument caps has the capabilities of the port, for a
// switch those of port 0.
func setPort(req *mad.Request, info mad.PortInfo, state mad.PortState, caps mad.CapabilityMask) {
	info = unchanged(info)
	info.PortState = state
	sendPort(req, &info, caps)
}

// unchanged returns a PortInfo to write that changes no state, width or speed. Those that must not change are sent as 0
// (IBA 1.2.1, 14.2.5.6).
func unchanged(info mad.PortInfo) mad.PortInfo {
	info.PortState, info.PhysState = mad.PortNoChange, mad.PhysNoChange
	info.LinkWidthEnabled, info.LinkSpeedEnabled, info.LinkSpeedExtEnabled, info.LinkSpeedExt2Enabled = 0, 0, 0, 0
	info.ClientReregister = false
	return info
}

func sendPort(req *mad.Request, info *mad.PortInfo, caps mad.CapabilityMask) {
	req.Set(info)
	if caps&mad.CapExtendedSpeeds != 0 {
		req.Mod |= knowsExtended
	}
}
