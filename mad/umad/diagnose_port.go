// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// port says how one port is. Its device is tried where usable.
func (d *diagnosis) port(ctx context.Context, p Port, usable bool) {
	switch {
	case !slices.Contains([]mad.NodeType{mad.NodeCA, mad.NodeSwitch, mad.NodeRouter}, p.NodeType):
		d.say(Note, p.Source(), "", "this is no InfiniBand device: it has no management packets")
		return
	case p.LinkLayer == InfiniBand:
		d.infiniBand(p)
	default:
		d.ethernet(p)
	}
	if !usable || !d.device(p) {
		return
	}
	seen, err := d.look(ctx, d.root, p, d.held)
	if err != nil {
		d.notOpened(p, err)
		return
	}
	d.subnetManagement(p, seen)
	d.generalServices(p, seen)
}

func (d *diagnosis) ethernet(p Port) {
	d.say(Note, p.Source(), "use another port; an adapter that can do both is changed with mlxconfig -d DEVICE set "+
		"LINK_TYPE_P"+
		fmt.Sprint(p.Number)+"=1 and a restart",
		"the link layer is %s (RoCE): there is no SMI, so no subnet management packets and no subnet manager, and "+
			"this console shows nothing of what is behind this port",
		p.LinkLayer)
}

func (d *diagnosis) infiniBand(p Port) {
	card := p.CA
	if p.Type != "" {
		card += " is a " + p.Type
	}
	if p.Firmware != "" {
		card += " with firmware " + p.Firmware
	}
	d.say(Fine, p.Source(), "", "InfiniBand, %s, port GUID 0x%016x; %s", p.Rate, p.GUID, card)
	if p.Virtual {
		d.say(Note, p.Source(), "use the physical function, on the host",
			"this is a virtual function: adapters do not let one send subnet management packets to others")
	}
	d.planes(p)
	d.link(p)
	if p.State >= mad.PortInit && p.SMLID == 0 {
		d.say(Note, p.Source(), "start a subnet manager (opensm), or bring the subnet up from here: route; write "+
			"on; commit",
			"no subnet manager is known to this port (sm_lid 0)")
	}
	if _, member := p.DefaultPKey(); !member && p.State == mad.PortActive {
		d.say(Note, p.Source(), "let the subnet manager give it 0xffff (OpenSM: partitions.conf, Default=0x7fff, "+
			"ALL=full)",
			"the P_Key table has no default key of a full member (0xffff): subnet administration answers limited "+
				"members with little")
	}
	d.issm(p)
}

// link says what state the link is in.
func (d *diagnosis) link(p Port) {
	say := func(l Level, remedy, format string, args ...any) { d.say(l, p.Source(), remedy, format, args...) }
	switch p.State {
	case mad.PortActive:
		manager := ""
		if p.SMLID != 0 {
			manager = fmt.Sprintf(", subnet manager at LID %d", p.SMLID)
		}
		say(Fine, "", "the port is active, LID %d%s", p.LID, manager)
	case mad.PortInit:
		say(Note, "", "the link is up, but no subnet manager has brought the port up: its state is %v", p.State)
	case mad.PortArmed:
		say(Note, "if it stays so, look into the subnet manager's log",
			"the port is armed: a subnet manager is bringing it up")
	default:
		remedy := map[mad.PhysState]string{
			mad.PhysPolling: "look at the cable, and whether the other end is on",
			mad.PhysDisabled: fmt.Sprintf("enable it: ibportstate -C %s -P %d -D 0 %d enable", p.CA,
				p.Number, p.Number),
			mad.PhysTraining: "the ends do not come to terms: try another cable or transceiver",
		}
		say(Fault, remedy[p.Phys], "the port is down: its state is %v, physically %v", p.State, p.Phys)
	}
}

// issm reports a subnet manager on the port, without opening the device: the port would say that one is.
func (d *diagnosis) issm(p Port) {
	if p.ISSM = cmp.Or(p.SMI().ISSM, p.ISSM); p.ISSM == "" {
		d.say(Note, p.Source(), "", "the kernel offers no issm device for this port: no subnet manager can run on it")
		return
	}
	if (p.CapMask|p.SMI().CapMask)&mad.CapIsSM == 0 {
		return
	}
	who := holder(d.root, p.ISSM)
	if who == "" {
		who = "a process that this user cannot see"
	}
	d.say(Note, p.Source(), "", "a subnet manager runs on this port: %s is taken by %s", p.ISSM, who)
}

// notOpened says why a port could not be opened that may be.
func (d *diagnosis) notOpened(p Port, err error) {
	remedy := ""
	switch {
	case errors.Is(err, ErrRefused):
		remedy = remedyFor(err)
	case errors.Is(err, fs.ErrPermission):
		remedy = "a container must be given the device: --device=/dev/infiniband/" + p.Umad
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		remedy = "the adapter has just gone: look at dmesg"
	}
	d.say(Fault, p.Source(), remedy, "%v", err)
}

func (d *diagnosis) subnetManagement(p Port, s sight) {
	switch {
	case s.smi != nil && p.LinkLayer != InfiniBand:
		d.say(Note, p.Source(), "", "as is to be expected, the kernel has no agent for subnet management: %v", s.smi)
	case s.smi != nil:
		d.say(Fault, p.Source(), remedyFor(s.smi), "no subnet management packets can be sent: %v", s.smi)
	case s.own != nil:
		d.say(Fault, p.Source(), "look for the driver's complaints: dmesg",
			"the port does not answer its own subnet management packets: %v", s.own)
	default:
		d.say(Fine, p.Source(), "", "an agent for subnet management was registered, the port answered it, and it was "+
			"released")
	}
}

func (d *diagnosis) generalServices(p Port, s sight) {
	switch {
	case s.gsi != nil:
		d.say(Note, p.Source(), remedyFor(s.gsi), "no general management packets can be sent, so no counters and no "+
			"questions to subnet administration: %v", s.gsi)
	case p.State != mad.PortActive:
		d.say(Fine, p.Source(), "", "an agent for general services was registered and released; nothing was sent, as "+
			"the port is not active")
	case s.nobody != nil:
		d.say(Note, p.Source(), "", "an agent for general services was registered and released; a request to nobody "+
			"did not come back: %v", s.nobody)
	case s.answered:
		d.say(Fine, p.Source(), "", "an agent for general services was registered, a request was answered, and it "+
			"was released")
	default:
		d.say(Fine, p.Source(), "", "an agent for general services was registered, a request that nobody answers "+
			"came back with the kernel's time-out (%v) after %d ms, and it was released",
			unix.ETIMEDOUT, s.after.Milliseconds())
	}
	if s.closed != nil {
		d.say(Note, p.Source(), "", "%v", s.closed)
	}
}

// remedyFor says what to do when the kernel refuses an agent.
func remedyFor(err error) string {
	switch {
	case errors.Is(err, unix.EPROTONOSUPPORT):
		return "the port has no such queue pair; use another port"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "a security module forbids it: SELinux allows it by the permission manage_subnet of infiniband_endport"
	case errors.Is(err, unix.EBUSY):
		return "another program has the class: find it with fuser -v " + devices + "/*"
	case errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EINVAL):
		return "the device does not do what ib_umad's do; is the file a device at all?"
	case errors.Is(err, unix.ENOMEM):
		return "the kernel is out of memory, or has too many agents"
	}
	return ""
}
