// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// port reports the state of one port. If the argument usable is set, it also tries the device.
func (d *diagnosis) port(ctx context.Context, p Port, usable bool) {
	switch {
	case !slices.Contains([]mad.NodeType{mad.NodeCA, mad.NodeSwitch, mad.NodeRouter}, p.NodeType):
		d.report(Note, p.Source(), "", "not an InfiniBand device: it has no management packets")
		return
	case p.LinkLayer == InfiniBand:
		d.infiniBand(p)
	default:
		d.ethernet(p)
	}
	if !usable || !d.device(p) {
		return
	}
	seen, err := d.probe(ctx, d.root, p, d.held)
	if err != nil {
		d.notOpened(p, err)
		return
	}
	d.subnetManagement(p, seen)
	d.generalServices(p, seen)
}

func (d *diagnosis) ethernet(p Port) {
	d.report(Note, p.Source(), "use another port; an adapter that supports both is changed with mlxconfig -d "+
		"DEVICE set "+
		"LINK_TYPE_P"+
		fmt.Sprint(p.Number)+"=1 and a restart",
		"the link layer is %s (RoCE): there is no SMI, so no subnet management packets and no subnet manager, and "+
			"no way to read a subnet through this port",
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
	d.report(Fine, p.Source(), "", "InfiniBand, %s, port GUID 0x%016x; %s", p.Rate, p.GUID, card)
	if p.Virtual {
		d.report(Note, p.Source(), "use the physical function, on the host",
			"this is a virtual function: adapters do not let it send subnet management packets to other ports")
	}
	d.planes(p)
	d.link(p)
	if p.State >= mad.PortInit && p.SMLID == 0 {
		d.report(Note, p.Source(), "start a subnet manager (opensm), or compute and commit forwarding tables with "+
			"this program",
			"no subnet manager is known to this port (sm_lid 0)")
	}
	if _, member := p.DefaultPKey(); !member && p.State == mad.PortActive {
		d.report(Note, p.Source(), "configure 0xffff in the subnet manager (OpenSM: partitions.conf, Default=0x7fff, "+
			"ALL=full)",
			"the P_Key table has no default key of a full member (0xffff): subnet administration returns little to "+
				"limited members")
	}
	d.issm(p)
}

// link reports the state of the link.
func (d *diagnosis) link(p Port) {
	report := func(l Level, remedy, format string, args ...any) { d.report(l, p.Source(), remedy, format, args...) }
	switch p.State {
	case mad.PortActive:
		manager := ""
		if p.SMLID != 0 {
			manager = fmt.Sprintf(", subnet manager at LID %d", p.SMLID)
		}
		report(Fine, "", "the port is active, LID %d%s", p.LID, manager)
	case mad.PortInit:
		report(Note, "", "the link is up, but no subnet manager has configured the port: its state is %v", p.State)
	case mad.PortArmed:
		report(Note, "if it remains so, read the subnet manager's log",
			"the port is armed: a subnet manager is configuring it")
	default:
		remedy := map[mad.PhysState]string{
			mad.PhysPolling: "check the cable, and whether the other end is on",
			mad.PhysDisabled: fmt.Sprintf("enable it: ibportstate -C %s -P %d -D 0 %d enable", p.CA,
				p.Number, p.Number),
			mad.PhysTraining: "the link cannot be trained: try another cable or transceiver",
		}
		report(Fault, remedy[p.Phys], "the port is down: its state is %v, physically %v", p.State, p.Phys)
	}
}

// issm reports whether a subnet manager runs on the port. It does not open the issm device, because the port would then
// claim to have a subnet manager.
func (d *diagnosis) issm(p Port) {
	if p.ISSM = cmp.Or(p.SMI().ISSM, p.ISSM); p.ISSM == "" {
		d.report(Note, p.Source(), "", "the kernel offers no issm device for this port: no subnet manager can "+
			"run on it")
		return
	}
	if (p.CapMask|p.SMI().CapMask)&mad.CapIsSM == 0 {
		return
	}
	who := holder(d.root, p.ISSM)
	if who == "" {
		who = "a process that this user cannot see"
	}
	d.report(Note, p.Source(), "", "a subnet manager runs on this port: %s is taken by %s", p.ISSM, who)
}

// notOpened reports why a port could not be opened although the permissions allow this.
func (d *diagnosis) notOpened(p Port, err error) {
	remedy := ""
	switch {
	case errors.Is(err, ErrRefused):
		remedy = remedyFor(err)
	case errors.Is(err, fs.ErrPermission):
		remedy = "a container must be given the device: --device=/dev/infiniband/" + p.Umad
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		remedy = "the adapter was just removed: read dmesg"
	}
	d.report(Fault, p.Source(), remedy, "%v", err)
}

func (d *diagnosis) subnetManagement(p Port, s probeResult) {
	switch {
	case s.smi != nil && p.LinkLayer != InfiniBand:
		d.report(Note, p.Source(), "", "as expected, the kernel has no agent for subnet management: %v", s.smi)
	case s.smi != nil:
		d.report(Fault, p.Source(), remedyFor(s.smi), "no subnet management packets can be sent: %v", s.smi)
	case s.self != nil:
		d.report(Fault, p.Source(), "read the messages of the driver: dmesg",
			"the port does not answer its own subnet management packets: %v", s.self)
	default:
		d.report(Fine, p.Source(), "", "an agent for subnet management was registered, the port answered it, and "+
			"it was "+
			"released")
	}
}

func (d *diagnosis) generalServices(p Port, s probeResult) {
	switch {
	case s.gsi != nil:
		d.report(Note, p.Source(), remedyFor(s.gsi), "no general management packets can be sent, so no counters can "+
			"be read and "+
			"subnet administration cannot be queried: %v", s.gsi)
	case p.State != mad.PortActive:
		d.report(Fine, p.Source(), "", "an agent for general services was registered and released; nothing was "+
			"sent, as "+
			"the port is not active")
	case s.unused != nil:
		d.report(Note, p.Source(), "", "an agent for general services was registered and released; a request to an "+
			"unused address "+
			"did not come back: %v", s.unused)
	case s.answered:
		d.report(Fine, p.Source(), "", "an agent for general services was registered, a request was answered, and it "+
			"was released")
	default:
		d.report(Fine, p.Source(), "", "an agent for general services was registered, a request to an unused address "+
			"came back with the kernel's time-out (%v) after %d ms, and it was released",
			unix.ETIMEDOUT, s.after.Milliseconds())
	}
	if s.closing != nil {
		d.report(Note, p.Source(), "", "%v", s.closing)
	}
}

// remedyFor returns a remedy for the case that the kernel refuses an agent.
func remedyFor(err error) string {
	switch {
	case errors.Is(err, unix.EPROTONOSUPPORT):
		return "the port has no such queue pair; use another port"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "a security module forbids it: SELinux allows it by the permission manage_subnet of infiniband_endport"
	case errors.Is(err, unix.EBUSY):
		return "another program has the class: find it with fuser -v " + devices + "/*"
	case errors.Is(err, unix.ENOTTY), errors.Is(err, unix.EINVAL):
		return "the device does not behave like one of ib_umad; check that the file is a device"
	case errors.Is(err, unix.ENOMEM):
		return "the kernel is out of memory, or has too many agents"
	}
	return ""
}

// holder returns the process that has a device open, "" if it finds none. An ordinary user sees only his own processes.
// holder reads /proc, O(open files of the machine).
func holder(root, device string) string {
	dir := filepath.Join(root, processes)
	pids, _ := entries(dir) // without /proc no process is visible
	for _, pid := range pids {
		if _, err := strconv.Atoi(pid); err != nil {
			continue
		}
		fds, _ := entries(filepath.Join(dir, pid, "fd")) // unreadable for other users' processes
		for _, fd := range fds {
			if to, err := os.Readlink(filepath.Join(dir, pid, "fd", fd)); err == nil &&
				to == filepath.Join(devices, device) {
				name, _ := os.ReadFile(filepath.Join(dir, pid, "comm")) // the process may have ended
				return fmt.Sprintf("%s (process %s)", trim(name), pid)
			}
		}
	}
	return ""
}
