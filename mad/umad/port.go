// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/mad"
)

// The link layers of a port, with the names that the kernel uses.
const (
	InfiniBand = "InfiniBand"
	Ethernet   = "Ethernet"
)

// Port is a port of a channel adapter as sysfs describes it. If a file of sysfs is missing, the field is zero.
type Port struct {
	CA         string // the adapter's name, such as mlx5_0
	Number     int    // from 1; 0 on a switch
	Umad, ISSM string // names of the devices, such as umad0 and issm0; "" for a missing device

	LinkLayer  string // InfiniBand if the kernel is too old to report it
	State      mad.PortState
	Phys       mad.PhysState
	LID, SMLID uint16
	CapMask    mad.CapabilityMask
	Rate       string // text such as "100 Gb/sec (4X EDR)"
	GUID       uint64
	PKeys      []uint16 // the P_Key table up to the last entry that is not 0
	// Planes holds those ports of a planarized adapter that are selected for sending SMPs. Other MADs are sent through
	// the port itself. Other adapters have no planes.
	Planes []Port

	// Attributes of the adapter.
	NodeType             mad.NodeType
	NodeGUID, SystemGUID uint64
	Type, Firmware       string
	Virtual              bool // virtual function of SR-IOV
}

// String returns the usual name of the port, for example "mlx5_0 port 1".
func (p Port) String() string { return fmt.Sprintf("%s port %d", p.CA, p.Number) }

// Source returns the name of the port as the source of a session, for example "umad:mlx5_0:1".
func (p Port) Source() string { return fmt.Sprintf("umad:%s:%d", p.CA, p.Number) }

// full is the bit in a P_Key that marks a full member (IBA 10.9.1.1).
const full = 0x8000

// defaultPKey is the P_Key of full members of the default partition. Subnet managers and agents belong to this
// partition.
const defaultPKey = 0xffff

// DefaultPKey returns the index of the default P_Key in the port's table, or 0 if the table has no default P_Key. It
// also reports whether that P_Key is for a full member.
func (p Port) DefaultPKey() (index uint16, member bool) {
	for _, want := range []uint16{defaultPKey, defaultPKey &^ full} {
		if i := slices.Index(p.PKeys, want); i >= 0 {
			return uint16(i), want&full != 0
		}
	}
	return 0, false
}

// Ports lists the ports of all adapters, by adapter name and port number. It lists each planarized port once. A machine
// without adapters is not an error. The error lists all files of sysfs that could not be read or parsed. The other
// ports in the result are valid.
func Ports(root string) ([]Port, error) {
	cas, err := entries(filepath.Join(root, classInfiniband))
	errs := []error{err}
	devs, err := listDevices(root)
	errs = append(errs, err)
	var ports []Port
	for _, ca := range cas {
		found, err := portsOf(root, ca)
		errs = append(errs, err)
		ports = append(ports, found...)
	}
	for i := range ports {
		p := &ports[i]
		names := devs[portKey{p.CA, p.Number}]
		p.Umad, p.ISSM = names.umad, names.issm
	}
	slices.SortStableFunc(ports, func(a, b Port) int {
		return cmp.Or(cmp.Compare(a.CA, b.CA), cmp.Compare(a.Number, b.Number))
	})
	return joinPlanes(ports), errors.Join(errs...)
}

// entries lists a directory. The directory may be missing.
func entries(dir string) ([]string, error) {
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names, err
}

type portKey struct {
	ca     string
	number int
}

type portDevices struct{ umad, issm string }

// listDevices returns the umad and issm devices of each port.
func listDevices(root string) (map[portKey]portDevices, error) {
	dir := filepath.Join(root, classMAD)
	names, err := entries(dir)
	errs := []error{err}
	devs := map[portKey]portDevices{}
	for _, name := range names {
		kind := strings.TrimRight(name, "0123456789")
		if kind != "umad" && kind != "issm" {
			continue
		}
		a := attributes{dir: filepath.Join(dir, name)}
		key := portKey{a.text("ibdev"), value(&a, "port", parsePort)}
		errs = append(errs, a.errs...)
		d := devs[key]
		if kind == "umad" {
			d.umad = name
		} else {
			d.issm = name
		}
		devs[key] = d
	}
	return devs, errors.Join(errs...)
}

// portsOf reads the ports of one adapter.
func portsOf(root, ca string) ([]Port, error) {
	a := attributes{dir: filepath.Join(root, classInfiniband, ca)}
	card := Port{
		CA:         ca,
		NodeType:   mad.NodeType(value(&a, "node_type", parseCode)),
		NodeGUID:   value(&a, "node_guid", parseGUID),
		SystemGUID: value(&a, "sys_image_guid", parseGUID),
		Type:       cmp.Or(a.text("hca_type"), a.text("board_id")),
		Firmware:   a.text("fw_ver"),
		Virtual:    a.exists("device/physfn"),
	}
	dir := filepath.Join(a.dir, "ports")
	names, err := entries(dir)
	errs := append(a.errs, err)
	var ports []Port
	for _, name := range names {
		number, err := parsePort(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		p := card
		p.Number = number
		errs = append(errs, p.read(filepath.Join(dir, name)))
		ports = append(ports, p)
	}
	return ports, errors.Join(errs...)
}

// read reads the port's own fields.
func (p *Port) read(dir string) error {
	a := attributes{dir: dir}
	p.LinkLayer = cmp.Or(a.text("link_layer"), InfiniBand)
	p.State = mad.PortState(value(&a, "state", parseCode))
	p.Phys = mad.PhysState(value(&a, "phys_state", parseCode))
	p.LID = value(&a, "lid", parse16)
	p.SMLID = value(&a, "sm_lid", parse16)
	p.CapMask = mad.CapabilityMask(value(&a, "cap_mask", parseMask))
	p.Rate = a.text("rate")
	p.GUID = value(&a, "gids/0", parseGID)
	p.PKeys = readPKeys(&a)
	return errors.Join(a.errs...)
}

// readPKeys reads the P_Key table. In sysfs each entry is a file.
func readPKeys(a *attributes) []uint16 {
	names, err := entries(filepath.Join(a.dir, "pkeys"))
	if err != nil {
		a.errs = append(a.errs, err)
	}
	table := make([]uint16, len(names))
	used := 0
	for _, name := range names {
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(table) {
			a.errs = append(a.errs, fmt.Errorf("%s: entry %q, expected numbers from 0 on",
				filepath.Join(a.dir, "pkeys"), name))
			continue
		}
		if table[i] = value(a, filepath.Join("pkeys", name), parse16); table[i] != 0 {
			used = max(used, i+1)
		}
	}
	return table[:used]
}
