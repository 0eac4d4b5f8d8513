// SPDX-License-Identifier: Apache-2.0

package cabling

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Resolver finds the ports that a plan names.
type Resolver struct {
	f      *fabric.Fabric
	labels map[fabric.NodeIndex]map[string][]fabric.PortIndex
	// byDesc and byDevice hold the nodes by description and by name of device, both in upper case.
	byDesc, byDevice map[string][]fabric.NodeIndex
}

// NewResolver returns a resolver for a fabric. O(ports).
func NewResolver(f *fabric.Fabric) *Resolver {
	r := &Resolver{f, map[fabric.NodeIndex]map[string][]fabric.PortIndex{}, map[string][]fabric.NodeIndex{},
		map[string][]fabric.NodeIndex{}}
	for i := range f.NumNodes() {
		if f.IsAggregation(i) {
			continue
		}
		full := strings.ToUpper(strings.TrimSpace(f.Nodes[i].Desc))
		r.byDesc[full] = append(r.byDesc[full], i)
		device := strings.ToUpper(DeviceOf(&f.Nodes[i]))
		r.byDevice[device] = append(r.byDevice[device], i)
	}
	for i := range f.NumPorts() {
		node, label := f.Ports[i].Node, f.Label(i)
		if label == "" {
			continue
		}
		if r.labels[node] == nil {
			r.labels[node] = map[string][]fabric.PortIndex{}
		}
		label = strings.ToUpper(label)
		r.labels[node][label] = append(r.labels[node][label], i)
	}
	return r
}

// DeviceOf returns the name by which plans know the device of a node: the name of a switch without its model, otherwise
// the first word of the description. It returns the GUID if the description is empty.
func DeviceOf(n *fabric.Node) string {
	if n.IsSwitch() {
		if name := strings.TrimSpace(boardOf(n.Desc).system); name != "" {
			return name
		}
	} else if words := strings.Fields(n.Desc); len(words) > 0 {
		return words[0]
	}
	return fmt.Sprintf("0x%016x", n.GUID)
}

// found is what a [Resolver] finds for an end.
type found struct {
	// ports are the ports that the end may be. There are several if several nodes have the name, or several ports the
	// label.
	ports []fabric.PortIndex
	// nodes are the nodes that the end may be at if unknown is set.
	nodes []fabric.NodeIndex
	// absent means that the subnet has no such device or adapter.
	absent bool
	// unknown is the reason why the end cannot be matched, "" if it can.
	unknown string
}

// find returns the ports that an end may be.
func (r *Resolver) find(e *End) found {
	nodes := r.nodes(e)
	got := r.findAt(nodes, e)
	if got.unknown != "" {
		got.nodes = nodes
	}
	return got
}

func (r *Resolver) findAt(nodes []fabric.NodeIndex, e *End) found {
	switch {
	case len(nodes) == 0:
		return found{absent: true}
	case e.Unmapped != "":
		return found{unknown: e.Unmapped}
	case e.Label != "":
		return r.labelled(nodes, e)
	case e.Board != "" && r.hasNoBoards(nodes):
		return found{unknown: fmt.Sprintf("%s has no board %s", r.f.NodeName(nodes[0]), fabric.Escape(e.Board))}
	case r.f.Nodes[nodes[0]].IsSwitch():
		return r.numbered(nodes, e.Num)
	}
	return r.hostPort(nodes, e)
}

// nodes returns the nodes of the device, or of the board or adapter that the end names.
func (r *Resolver) nodes(e *End) []fabric.NodeIndex {
	if e.GUID != 0 {
		if n := r.f.NodeByGUID(e.GUID); n != fabric.None {
			return []fabric.NodeIndex{n}
		}
		if p := r.f.PortByGUID(e.GUID); p != fabric.None {
			return []fabric.NodeIndex{r.f.Ports[p].Node}
		}
		return nil
	}
	if e.Adapter != "" {
		return r.byDesc[strings.ToUpper(e.Adapter)]
	}
	name := strings.ToUpper(e.Device)
	nodes := r.byDesc[name]
	if len(nodes) == 0 {
		nodes = r.byDevice[name]
	}
	if e.Board == "" || len(nodes) == 0 || !r.f.Nodes[nodes[0]].IsSwitch() || r.hasNoBoards(nodes) {
		return nodes
	}
	var on []fabric.NodeIndex
	for _, n := range nodes {
		if isBoard(boardOf(r.f.Nodes[n].Desc).board, e.Board) {
			on = append(on, n)
		}
	}
	return on
}

// hasNoBoards reports whether a device is a switch without boards.
func (r *Resolver) hasNoBoards(nodes []fabric.NodeIndex) bool {
	return len(nodes) == 1 && r.f.Nodes[nodes[0]].IsSwitch() && boardOf(r.f.Nodes[nodes[0]].Desc).board == ""
}

// numbered returns port num of each of the nodes.
func (r *Resolver) numbered(nodes []fabric.NodeIndex, num int) found {
	var ports []fabric.PortIndex
	for _, n := range nodes {
		if p := r.f.PortAt(n, num); p != fabric.None && num > 0 {
			ports = append(ports, p)
		}
	}
	if len(ports) == 0 {
		return found{unknown: fmt.Sprintf("%s has no port %d", r.f.NodeName(nodes[0]), num)}
	}
	return found{ports: ports}
}

// labelled returns the ports with a label. The label may omit the number of the ASIC.
func (r *Resolver) labelled(nodes []fabric.NodeIndex, e *End) found {
	want := canonicalLabel(e.Label)
	var ports, shorter []fabric.PortIndex
	known := false
	for _, n := range nodes {
		for label, p := range r.labels[n] {
			known = true
			if label == want {
				ports = append(ports, p...)
			} else if strings.HasSuffix(label, "/"+want) {
				shorter = append(shorter, p...)
			}
		}
	}
	slices.Sort(shorter)
	switch {
	case len(ports) > 0:
		return found{ports: ports}
	case len(shorter) > 0:
		return found{ports: shorter}
	case !known:
		return found{unknown: fmt.Sprintf("the labels of %s are not known, only an ibdiagnet folder has them",
			r.f.NodeName(nodes[0]))}
	}
	return found{unknown: fmt.Sprintf("%s has no port labelled %q", r.f.NodeName(nodes[0]), e.Label)}
}

var cageName = regexp.MustCompile(`^SW(\d+)P(\d+)$`)

// canonicalLabel returns a label in upper case. The name of a port in NVOS becomes cage and port: "sw3p2" is "3/2".
func canonicalLabel(label string) string {
	label = strings.ToUpper(label)
	if m := cageName.FindStringSubmatch(label); m != nil {
		return m[1] + "/" + m[2]
	}
	return label
}

// hostPort returns the port of a host. A number is that of the port if the host has one adapter, otherwise that of the
// adapter.
func (r *Resolver) hostPort(nodes []fabric.NodeIndex, e *End) found {
	if e.Adapter != "" || e.GUID != 0 || strings.EqualFold(e.Device, strings.TrimSpace(r.f.Nodes[nodes[0]].Desc)) {
		return r.numbered(nodes, e.Num)
	}
	f, byNumber := r.f, map[int][]fabric.NodeIndex{}
	singlePort, oneName := true, true
	for _, n := range nodes {
		number := adapterNumber(f.Nodes[n].Desc)
		byNumber[number] = append(byNumber[number], n)
		singlePort = singlePort && f.Nodes[n].NumPorts == 1
		oneName = oneName && f.Nodes[n].Desc == f.Nodes[nodes[0]].Desc
	}
	switch only := nodes[0]; {
	case oneName && !e.ByAdapter && e.Num <= int(f.Nodes[only].NumPorts):
		return r.numbered(nodes, e.Num)
	case len(byNumber[e.Num]) > 0 && (singlePort || e.ByAdapter):
		return r.numbered(byNumber[e.Num], 1)
	case len(byNumber[0]) == 0 && (singlePort || e.ByAdapter):
		return found{absent: true} // the adapter with this number
	case oneName && e.Num == 1:
		return r.numbered(nodes, 1)
	}
	return found{unknown: fmt.Sprintf("the plan does not state which adapter of %s has port %d",
		fabric.Escape(e.Device), e.Num)}
}

var (
	adapterFromOne  = regexp.MustCompile(`^\S+ HCA-(\d+)$`)
	adapterFromZero = regexp.MustCompile(`^\S+ mlx\d+_(\d+)$`)
)

// adapterNumber returns the number of an adapter in its host, from 1, or 0 if the description does not contain it.
func adapterNumber(desc string) int {
	if m := adapterFromOne.FindStringSubmatch(desc); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	if m := adapterFromZero.FindStringSubmatch(desc); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n + 1
	}
	return 0
}

// EndOf returns an end in the form of UFM's NDT by which [Compare] finds a port again. It contains the GUID instead of
// the name if the names do not identify the port.
func (r *Resolver) EndOf(port fabric.PortIndex) End {
	p := &r.f.Ports[port]
	n := &r.f.Nodes[p.Node]
	e := End{Device: DeviceOf(n), Num: int(p.Num), Port: fmt.Sprintf("Port %d", p.Num)}
	if m := ndtBoard.FindStringSubmatch(boardOf(n.Desc).board); m != nil && n.IsSwitch() {
		e.Board, e.Port = m[0], fmt.Sprintf("Blade %s_Port %s/%d", m[1], m[2], p.Num)
	} else if n.Type == mad.NodeCA && p.Num == 1 && strings.HasPrefix(n.Desc, e.Device+" ") {
		e.Adapter, e.Port = n.Desc, n.Desc
	}
	if r.identifies(&e, port) {
		return e
	}
	return r.guidEnd(port, e.Port)
}

// NodeEnd returns an end that consists of the description and the port number. It contains the GUID instead of the
// description if the description does not identify the port.
func (r *Resolver) NodeEnd(port fabric.PortIndex) End {
	p := &r.f.Ports[port]
	e := End{Device: r.f.Nodes[p.Node].Desc, Num: int(p.Num), Port: strconv.Itoa(int(p.Num))}
	if r.identifies(&e, port) {
		return e
	}
	return r.guidEnd(port, e.Port)
}

func (r *Resolver) guidEnd(port fabric.PortIndex, form string) End {
	p := &r.f.Ports[port]
	guid, text := r.f.Nodes[p.Node].GUID, strconv.Itoa(int(p.Num))
	if strings.Contains(form, " ") {
		text = "Port " + text
	}
	return End{Device: fmt.Sprintf("0x%016x", guid), GUID: guid, Num: int(p.Num), Port: text}
}

// identifies reports whether a plan with this end names the port and no other.
func (r *Resolver) identifies(e *End, port fabric.PortIndex) bool {
	got := r.find(e)
	return len(got.ports) == 1 && got.ports[0] == port && isPlain(e.Device) && isPlain(e.Port)
}

// ndtBoard is a board in the form that NDT can express.
var ndtBoard = regexp.MustCompile(`^L(\d+)/U(\d+)$`)

// isPlain reports whether the readers of plans return the text unchanged, as a name.
func isPlain(s string) bool {
	return s != "" && fabric.Escape(s) == s && strings.Join(strings.Fields(s), " ") == s && s[0] != '#' &&
		!strings.HasPrefix(s, "0x")
}
