// SPDX-License-Identifier: Apache-2.0

// Package cables lists cables with their temperatures, error correction and bit error rates.
package cables

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

// Feature is the command show cables.
var Feature = feature.Feature{Name: "cables", Commands: []feature.Command{{
	Path:     "show cables",
	Summary:  "List cables, temperatures, FEC and bit error rates",
	Help:     "A folder of ibdiagnet has them. Agents that can be asked over the subnet do not.",
	Args:     []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
	Examples: []string{"show cables leaf-01"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// errNotRead is the error where no port told anything.
var errNotRead = errors.New("cables, error correction and bit error rates were not read (an ibdiagnet folder has them)")

// port is what a port tells of its link.
type port struct {
	f  *fabric.Fabric
	at fabric.PortIndex
	*health.Port
}

var table = answer.Table[port]{
	Key: "cables", Title: "cables", Stream: true,
	Fields: []answer.Field[port]{
		{Key: "port", Name: "PORT", Kind: answer.KindPlace, Value: func(p port) answer.Value {
			return answer.Port(p.f, p.at)
		}},
		{Key: "peer", Name: "TO", Kind: answer.KindPlace, Help: "the port at the other end",
			Value: func(p port) answer.Value { return answer.Port(p.f, p.f.Ports[p.at].Peer) }},
		{Name: "CABLE", Kind: answer.KindText, Value: func(p port) answer.Value { return cable(p, description) }},
		text("vendor", func(c *health.Cable) string { return c.Vendor }),
		text("part", func(c *health.Cable) string { return c.Part }),
		text("serial", func(c *health.Cable) string { return c.Serial }),
		text("revision", func(c *health.Cable) string { return c.Revision }),
		text("length", func(c *health.Cable) string { return c.Length }),
		text("type", func(c *health.Cable) string { return c.Type }),
		text("firmware", func(c *health.Cable) string { return c.Firmware }),
		{Key: "temperature", Name: "CELSIUS", Unit: "C", Kind: answer.KindInt, Help: "temperature of the module",
			Value: celsius},
		{Key: "fec", Name: "FEC", Kind: answer.KindText, Help: "forward error correction in use",
			Value: func(p port) answer.Value { return mode(p.FEC, p.FEC == health.Unknown) }},
		{Key: "retransmission", Name: "RETRANS", Kind: answer.KindText, Help: "link-level retransmission",
			Value: func(p port) answer.Value { return mode(p.Retrans, p.Retrans == health.Unknown) }},
		rate("raw_ber", "RAW BER", 0), rate("effective_ber", "EFFECTIVE", 1), rate("symbol_ber", "SYMBOL", 2),
	},
	Lead: func(p port) answer.Lead { return feature.ToPort(p.f, p.at) },
}

var decl = answer.Decl[[]port]{
	Command: "show cables", Help: "the cables that a folder of ibdiagnet describes",
	Layout: []answer.Item[[]port]{
		{Table: answer.Show(&table, func(p []port) answer.Rows[port] { return answer.Slice(p) })},
	},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	f := st.Live.Fabric
	ports := st.Live.Health.Ports()
	if len(ports) == 0 {
		return errNotRead
	}
	if len(c.Args) > 0 {
		var err error
		if ports, err = c.PortArg(f); err != nil {
			return err
		}
	}
	var rows []port
	for _, at := range ports {
		if p := st.Live.Health.At(at); p != nil {
			rows = append(rows, port{f, at, p})
		}
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks), rows))
}

// cable returns a value of the cable, None without one.
func cable(p port, value func(*health.Cable) string) answer.Value {
	if p.Cable == nil {
		return answer.None()
	}
	if text := value(p.Cable); text != "" {
		return answer.Text(text)
	}
	return answer.None()
}

// text declares a text that the cable tells, for programs.
func text(key string, value func(*health.Cable) string) answer.Field[port] {
	return answer.Field[port]{Key: key, Kind: answer.KindText, Value: func(p port) answer.Value {
		return cable(p, value)
	}}
}

// description returns all that the cable tells.
func description(c *health.Cable) string {
	words := []string{c.Vendor, c.Part, c.Serial, c.Revision, c.Length, c.Type, c.Firmware}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func celsius(p port) answer.Value {
	switch {
	case p.Cable == nil:
		return answer.None()
	case !p.Cable.Measured:
		return answer.NotRead()
	}
	return answer.Int(p.Cable.Celsius)
}

func mode(m fmt.Stringer, unknown bool) answer.Value {
	if unknown {
		return answer.NotRead()
	}
	return answer.Text(m.String())
}

// rate declares a bit error rate.
func rate(key, name string, i int) answer.Field[port] {
	return answer.Field[port]{Key: key, Name: name, Kind: answer.KindFloat, Help: "errors per bit",
		Value: func(p port) answer.Value {
			if !p.BER[i].Known {
				return answer.NotRead()
			}
			return answer.Scientific(p.BER[i].Value)
		}}
}
