// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Level says how bad a finding is.
type Level string

// The levels of findings.
const (
	Fine  Level = "ok"    // as it should be
	Note  Level = "note"  // worth knowing
	Fault Level = "fault" // keeps a port from being used
)

// Finding is one thing that [Diagnose] found.
type Finding struct {
	Level Level
	// Port is the source that names the port, such as "umad:mlx5_0:1", "" for the machine.
	Port string
	// Text says what there is or is missing, Remedy what to do about it.
	Text   string
	Remedy string
}

// Diagnose says what this machine has of InfiniBand, what is missing, and what to do about it, the machine
// first and then its ports. It opens each port, registers agents and releases them, asks the port itself for
// NodeInfo, and sends one question to nobody to see that the kernel gives it back. It writes nothing, and
// takes some tenths of a second for each active port.
//
// Texts hold names as the kernel gives them, not escaped.
func Diagnose(ctx context.Context, root string, h *Held) []Finding {
	d := diagnosis{root: root, held: h, look: look}
	d.run(ctx)
	return d.findings
}

type diagnosis struct {
	root     string
	held     *Held
	look     func(ctx context.Context, root string, p Port, h *Held) (sight, error)
	findings []Finding
}

func (d *diagnosis) say(l Level, port, remedy, format string, args ...any) {
	d.findings = append(d.findings, Finding{Level: l, Port: port, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

func (d *diagnosis) run(ctx context.Context) {
	ports, err := Ports(d.root)
	if err != nil {
		for line := range strings.Lines(err.Error()) {
			d.say(Note, "", "", "sysfs: %s", strings.TrimSuffix(line, "\n"))
		}
	}
	if len(ports) == 0 {
		d.noAdapter()
	}
	usable := d.module(len(ports) > 0)
	for _, p := range ports {
		d.port(ctx, p, usable)
	}
	if len(ports) > 0 {
		d.choice(ports)
	}
}

// noAdapter says why there is no adapter.
func (d *diagnosis) noAdapter() {
	cards := pciCards(d.root)
	_, err := os.Stat(filepath.Join(d.root, classInfiniband))
	loaded := err == nil
	for _, c := range cards {
		d.say(Fault, "", "as root: modprobe "+c.driver, "PCI %s (%s) is an adapter whose driver is not loaded or "+
			"refuses it", c.slot, c.id)
	}
	switch {
	case !loaded:
		d.say(Fault, "", "as root: modprobe mlx5_ib (ConnectX-4 and later; mlx4_ib for those before), then modprobe "+
			"ib_umad; "+
			"Debian's rdma-core does both when the machine starts",
			"no RDMA module is loaded: there is no %s", classInfiniband)
	case len(cards) == 0:
		d.say(Fault, "", "put in an adapter; in a virtual machine or container, pass one through",
			"the RDMA modules are loaded, but there is no adapter")
	default:
		d.say(Note, "", "look for its driver's complaints: dmesg | grep -i mlx",
			"the RDMA modules are loaded, but no adapter is registered with them")
	}
}

// module reports whether ib_umad is there in the version that is spoken here.
func (d *diagnosis) module(ports bool) bool {
	err := checkABI(d.root)
	switch {
	case err == nil:
		d.say(Fine, "", "", "the module ib_umad is loaded, interface version %d", ABIVersion)
		return true
	case errors.Is(err, ErrNoModule) && !ports:
		return false // that is said already
	case errors.Is(err, ErrNoModule):
		d.say(Fault, "", "as root: modprobe ib_umad; for every start: echo ib_umad >/etc/modules-load.d/ib_umad.conf",
			"the module ib_umad is not loaded: there is no %s", classMAD)
	case errors.Is(err, ErrABI):
		d.say(Fault, "", "take a kernel whose ib_umad has that version, as all since 2.6.13 have", "%v", err)
	default:
		d.say(Fault, "", "", "%v", err)
	}
	return false
}

// choice says which port a session opens when none is named.
func (d *diagnosis) choice(ports []Port) {
	p, err := Selector{Port: AnyPort}.Choose(ports)
	if err != nil {
		d.say(Note, "", "", "-s umad has %v", err)
		return
	}
	d.say(Fine, "", "", "-s umad means %s", p.Source())
}

// device reports whether the devices of a port may be opened.
func (d *diagnosis) device(p Port) bool {
	for _, name := range p.devices() {
		if !d.oneDevice(p, name) {
			return false
		}
	}
	return true
}

func (d *diagnosis) oneDevice(p Port, name string) bool {
	if name == "" {
		d.say(Fault, p.Source(), "load ib_umad again: modprobe -r ib_umad; modprobe ib_umad",
			"the kernel offers no umad device for this port")
		return false
	}
	err := mayOpen(devicePath(d.root, name), d.held)
	switch {
	case err == nil:
		return true
	case errors.Is(err, fs.ErrNotExist):
		d.say(Fault, p.Source(), "udev makes it: udevadm trigger; a container must be given it: "+
			"--device=/dev/infiniband/"+name,
			"there is no device node %s/%s, though the kernel has the device", devices, name)
	case errors.Is(err, fs.ErrPermission):
		d.say(Fault, p.Source(), "run as root, or give your group the device in a udev rule: "+
			`KERNEL=="umad*", GROUP="rdma", MODE="0660"`, "this user may not open %s/%s", devices, name)
	default:
		d.say(Fault, p.Source(), "", "%v", err)
	}
	return false
}
