// SPDX-License-Identifier: Apache-2.0

// Package managers describes the subnet managers of a subnet, and the facts known about the master.
package managers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// SM is a subnet manager on a port of the subnet.
type SM struct {
	GUID     uint64
	Port     string
	Priority uint8
	State    string // its SMState in words, [Silent] if it does not respond
	VendorID uint32 // of its node
	InSwitch bool   // its node is a switch
	ActCount uint32 // grows as long as it runs, 0 if it does not respond
}

// The states of a subnet manager. Silent is the state of a subnet manager that does not respond.
const (
	Silent      = "silent"
	master      = "master"
	standby     = "standby"
	discovering = "discovering"
)

var states = map[mad.SMState]string{
	mad.SMNotActive: "not active", mad.SMDiscovering: discovering, mad.SMStandby: standby, mad.SMMaster: master,
}

// StateCode returns the state of the subnet manager in the encoding of SMInfo, or 0 if it is unknown.
func (sm *SM) StateCode() mad.SMState {
	for state, word := range states {
		if word == sm.State {
			return state
		}
	}
	return 0
}

// IsSameRun reports whether a later reading is of the same run of the same subnet manager: it has not been restarted in
// between.
func (sm *SM) IsSameRun(later *SM) bool {
	return sm.GUID == later.GUID && sm.ActCount <= later.ActCount
}

// Master returns the master among subnet managers. If there is no master, it returns one in the state discovering,
// because OpenSM is in this state just before it becomes master.
func Master(all []SM) (SM, bool) {
	for _, state := range []string{master, discovering} {
		if i := slices.IndexFunc(all, func(sm SM) bool { return sm.State == state }); i >= 0 {
			return all[i], true
		}
	}
	return SM{}, false
}

// Problems converts subnet managers to the type of [problems.Report.Managers]. The result is not nil.
func Problems(all []SM) []problems.Manager {
	list := []problems.Manager{}
	for _, sm := range all {
		list = append(list, problems.Manager{GUID: sm.GUID, Port: sm.Port, State: sm.State})
	}
	return list
}

// Find searches the subnet for its subnet managers and returns them, the master first.
func Find(ctx context.Context, c *mad.Client, f *fabric.Fabric) ([]SM, error) {
	master, ok, others, err := sweep.MasterSM(ctx, c, f)
	if err != nil {
		return nil, err
	}
	if ok {
		others = append([]sweep.SM{master}, others...)
	}
	var all []SM
	for _, o := range others {
		node := &f.Nodes[f.Ports[o.Port].Node]
		sm := SM{GUID: o.Info.GUID, Port: f.PortName(o.Port), Priority: o.Info.Priority, State: states[o.Info.State],
			VendorID: node.VendorID, InSwitch: node.IsSwitch(), ActCount: o.Info.ActCount}
		if sm.State == "" {
			sm.State = fmt.Sprintf("state %d", o.Info.State)
		}
		if o.Err != nil {
			sm.GUID, sm.State = f.Ports[o.Port].GUID, Silent
		}
		all = append(all, sm)
	}
	return all, nil
}

// InFile returns the subnet managers of a file, the master first.
func InFile(file *formats.Subnet) []SM {
	var all []SM
	for _, m := range file.Managers {
		sm := SM{GUID: m.GUID, Port: "?", Priority: m.Priority, State: states[m.State]}
		if at := file.Fabric.PortByGUID(m.GUID); at != fabric.None {
			n := &file.Fabric.Nodes[file.Fabric.Ports[at].Node]
			sm.Port, sm.VendorID, sm.InSwitch = file.Fabric.PortName(at), n.VendorID, n.IsSwitch()
		}
		all = append(all, sm)
	}
	rank := func(sm SM) int { return -slices.Index([]string{standby, discovering, master}, sm.State) }
	slices.SortStableFunc(all, func(a, b SM) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// Kind is the type of the master subnet manager: the product that implements it.
type Kind string

// The types of subnet managers. Some can be distinguished by the MADs that they send, but UFM and MLNX_OpenSM cannot.
const (
	Unknown Kind = ""
	OpenSM  Kind = "opensm" // as OpenFabrics ships it
	MLNX    Kind = "mlnx"   // MLNX_OpenSM
	UFM     Kind = "ufm"
	Other   Kind = "other"
)

// Kinds are the kinds that a user can set.
var Kinds = []string{string(OpenSM), string(MLNX), string(UFM), string(Other)}

// Info holds the facts known about a master subnet manager.
type Info struct {
	Of           SM
	Kind         Kind               // as the user set it
	Capabilities *mad.ClassPortInfo // of its subnet administration, nil if it was not asked or did not respond
}

// Since returns the facts that are known about the present master at this time. If another master runs, or the master
// was restarted, nothing is known.
func (i Info) Since(now SM, ok bool) Info {
	if !ok || !i.Of.IsSameRun(&now) {
		return Info{Of: now}
	}
	return i
}

// The capabilities that OpenSM 3.3.21 to 3.3.24 report in ClassPortInfo (include/opensm/osm_base.h,
// osm_sa_class_port_info.c), always or depending on options. OpenSM 3.3.20 lacks HDR, width 2x and send-only full
// members.
const (
	statedCaps     = 1<<1 | 1<<13 // Get and Set of Notice, matches by PortInfo's capability mask
	statedByOption = 1<<9 | 1<<10 // multicast, multipath

	statedCaps2     = 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<10 | 1<<12 | 1<<13 | 1<<15
	statedByOption2 = 1<<1 | 1<<3 // quality of service, MulticastFDBTop
)

// hasCapabilitiesOfOpenSM reports whether a subnet administration has the capabilities of OpenSM 3.3.23.
func hasCapabilitiesOfOpenSM(c *mad.ClassPortInfo) bool {
	return c.CapabilityMask&^statedByOption == statedCaps && c.CapabilityMask2&^statedByOption2 == statedCaps2
}

// Signs returns a text with the signs by which the type of the master can be recognised, or "".
func (i Info) Signs() string {
	var signs []string
	switch {
	case i.Capabilities == nil:
	case hasCapabilitiesOfOpenSM(i.Capabilities):
		signs = append(signs, "its subnet administration states the capabilities of OpenSM 3.3.21 to 3.3.24, as a "+
			"vendor's may")
	default:
		signs = append(signs,
			fmt.Sprintf("its subnet administration states the capabilities 0x%04x and 0x%08x, which differ from "+
				"those of "+
				"OpenSM 3.3.23", i.Capabilities.CapabilityMask, i.Capabilities.CapabilityMask2))
	}
	if i.Of.InSwitch {
		signs = append(signs, "it runs in a switch, as a switch vendor's does")
	}
	return strings.Join(signs, "; ")
}
