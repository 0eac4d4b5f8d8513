// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/settings"
)

// EngineCommand returns the command that chooses an engine and keeps the options that were given.
func EngineCommand(set *settings.Settings, engine string) string {
	conf, _, given := set.Asked()
	words := []string{"engine", engine}
	if conf != "" {
		words = append(words, "from="+lang.Quote(conf))
	}
	for _, g := range given {
		words = append(words, g.Name+"="+lang.Quote(g.Value))
	}
	return strings.Join(words, " ")
}

// PortRanges returns port numbers of a node as text, such as "1-3,7". A port with a label stands alone: "4 (1/2/2)".
func PortRanges[N uint8 | int](f *fabric.Fabric, node fabric.NodeIndex, nums []N) string {
	labelled := func(num N) bool {
		port := f.PortAt(node, int(num))
		return port != fabric.None && f.Label(port) != ""
	}
	var words []string
	for i := 0; i < len(nums); {
		end := i
		for end < len(nums) && !labelled(nums[end]) {
			end++
		}
		if end > i {
			words = append(words, prose.Ranges(nums[i:end]))
			i = end
			continue
		}
		words = append(words, f.PortNumber(f.PortAt(node, int(nums[i]))))
		i++
	}
	return strings.Join(words, ",")
}

// PortArg returns the port that the first argument names, or all ports of the node that it names. Without an argument
// it returns nil.
func (c *Call) PortArg(f *fabric.Fabric) ([]fabric.PortIndex, error) {
	if len(c.Args) == 0 {
		return nil, nil
	}
	p, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return nil, err
	}
	if p.PortNamed {
		return []fabric.PortIndex{p.Port}, nil
	}
	var ports []fabric.PortIndex
	for _, port := range counters.AllPorts(f) {
		if f.Ports[port].Node == p.Node {
			ports = append(ports, port)
		}
	}
	return ports, nil
}

// ToPort returns the lead to a port, or the zero Lead for [fabric.None].
func ToPort(f *fabric.Fabric, port fabric.PortIndex) answer.Lead {
	if port == fabric.None {
		return answer.Lead{}
	}
	l := ToNode(f, f.Ports[port].Node)
	l.Port = f.Ports[port].Num
	return l
}

// ToNode returns the lead to a node, or the zero Lead for [fabric.None].
func ToNode(f *fabric.Fabric, node fabric.NodeIndex) answer.Lead {
	if node == fabric.None {
		return answer.Lead{}
	}
	return answer.Lead{GUID: f.Nodes[node].GUID}
}

// NodeArg returns the node that the first argument names, or [fabric.None] without an argument.
func (c *Call) NodeArg(f *fabric.Fabric) (fabric.NodeIndex, error) {
	if len(c.Args) == 0 {
		return fabric.None, nil
	}
	return places.ResolveNode(f, c.Arg(0))
}

// PortState returns the logical state of a port.
func PortState(p *session.Picture, port fabric.PortIndex) answer.Value {
	state := p.LinkState(port)
	if state == mad.PortNoChange {
		return answer.NotRead()
	}
	return answer.Text(state.String())
}

// Width returns the width of the link at a port, or None if the port has no link.
func Width(f *fabric.Fabric, port fabric.PortIndex) answer.Value {
	p := &f.Ports[port]
	return ofLink(p, p.Width == 0, p.Width.String())
}

// Speed returns the speed of the link at a port, or None if the port has no link.
func Speed(f *fabric.Fabric, port fabric.PortIndex) answer.Value {
	p := &f.Ports[port]
	return ofLink(p, p.Speed == fabric.SpeedUnknown, p.Speed.String())
}

// WidthSpeed returns the width and speed of the link at a port, such as "4xNDR". It returns None if the port has no
// link.
func WidthSpeed(f *fabric.Fabric, port fabric.PortIndex) answer.Value {
	p := &f.Ports[port]
	return ofLink(p, p.Width == 0 && p.Speed == fabric.SpeedUnknown, p.Width.String()+p.Speed.String())
}

func ofLink(p *fabric.Port, unknown bool, text string) answer.Value {
	switch {
	case !p.Linked():
		return answer.None()
	case unknown:
		return answer.NotRead()
	}
	return answer.Text(text)
}

// TypeWord returns the name of a node type.
func TypeWord(t mad.NodeType) string {
	switch t {
	case mad.NodeSwitch:
		return "switch"
	case mad.NodeCA:
		return "ca"
	case mad.NodeRouter:
		return "router"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// NodeLID returns the LID of a switch. For a CA or router, it returns the LID of the first port that has a LID.
func NodeLID(f *fabric.Fabric, n *fabric.Node) uint16 {
	for p := range n.Slots() {
		if lid := f.LIDOf(p); lid != 0 {
			return lid
		}
	}
	return 0
}

// AllWord is the argument for all end ports.
const AllWord = "all"

// Pairs returns the pair that the first two arguments of the command name. If an argument is "all", it returns the
// pairs of one end port with all others. The default of the second argument is "all". If the argument switches is set,
// "all" includes the ports 0 of switches.
func (c *Call) Pairs(f *fabric.Fabric, switches bool) ([]pairs.Pair, error) {
	return PairsOf(f, c.Arg(0), cmp.Or(c.Arg(1), AllWord), switches)
}

// PairsOf returns the pair of end ports that two words of a command name. If one word is "all", it returns the pairs of
// the other end port with all end ports.
func PairsOf(f *fabric.Fabric, src, dst string, switches bool) ([]pairs.Pair, error) {
	switch {
	case dst == AllWord:
		return pairs.From(f, src, switches)
	case src == AllWord:
		return pairs.To(f, dst, switches)
	}
	pair, err := pairs.Of(f, src, dst)
	return []pairs.Pair{pair}, err
}

// PairWithComma returns the pair that the text "A,B" names. The names may themselves contain commas.
func PairWithComma(f *fabric.Fabric, ends string) (pair pairs.Pair, err error) {
	err = fmt.Errorf("path=%q: expected A,B", ends)
	for i, r := range ends {
		if r != ',' {
			continue
		}
		if pair, err = pairs.Of(f, strings.TrimSpace(ends[:i]), strings.TrimSpace(ends[i+1:])); err == nil {
			return pair, nil
		}
	}
	return pair, err
}

// MLIDPrefix is the prefix of a multicast LID in arguments.
const MLIDPrefix = "mlid:"

// ParseMLID parses a multicast LID, written as mlid:0xC000, 0xC000 or 49152.
func ParseMLID(text string) (uint16, error) {
	n, err := strconv.ParseUint(strings.TrimPrefix(text, MLIDPrefix), 0, 16)
	if err != nil || n < fabric.FirstMLID || n > fabric.LastMLID {
		return 0, fmt.Errorf("invalid multicast LID %q, expected 0x%X to 0x%X", text, fabric.FirstMLID, fabric.LastMLID)
	}
	return uint16(n), nil
}

// Attachment returns the switch port to which an end port is attached, or None if there is none.
func Attachment(f *fabric.Fabric, end fabric.PortIndex) answer.Value {
	if end == fabric.None {
		return answer.None()
	}
	sw, port := f.AttachedSwitch(end)
	if sw == fabric.None {
		return answer.None()
	}
	return answer.Port(f, f.Port(f.Switches[sw], port))
}

// MaxExamples is the maximum number of examples of each kind in the result of an analysis.
const MaxExamples = 2000

// NoTable is the cause that answers give for a table that was not read.
const NoTable = "no response or not supported"

// NotRead adds values of ports that were not read to the basis of an answer. The argument what is the kind of value,
// and the argument why is the cause.
func NotRead(b *answer.Basis, f *fabric.Fabric, what, why string, ports []fabric.PortIndex) {
	for _, p := range ports {
		place, _ := answer.Port(f, p).Place()
		b.Unread.Note(what, why, 1, place)
	}
}

// EntryID parses the number of a history entry.
func (c *Call) EntryID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, c.Misused("invalid history entry %q, expected a number", text)
	}
	return id, nil
}
