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
	Help:     "The data of cables come from an ibdiagnet folder. They cannot be read over the subnet.",
	Args:     []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace, Optional: true}},
	Examples: []string{"show cables", "show cables leaf-01"},
	Answers:  []answer.Declared{&decl},
	Run:      run,
}}}

// errNotRead is returned if no port has data.
var errNotRead = errors.New("data of cables, error correction and bit error rates were not read; hint: open an " +
	"ibdiagnet folder as the source")

// port is a port with the data of its cable and link.
type port struct {
	f  *fabric.Fabric
	at fabric.PortIndex
	*health.Port
}

var table = answer.Table[port]{
	Key: "cables", Title: "cables", Stream: true,
	Fields: []answer.Field[port]{
		answer.PlaceField("port", "PORT", "", func(p port) answer.Value { return answer.Port(p.f, p.at) }),
		answer.PlaceField("peer", "TO", "port at the other end", func(p port) answer.Value {
			return answer.Port(p.f, p.f.Ports[p.at].Peer)
		}),
		cableText("", "CABLE", description),
		cableText("vendor", "", func(c *health.Cable) string { return c.Vendor }),
		cableText("part", "", func(c *health.Cable) string { return c.Part }),
		cableText("serial", "", func(c *health.Cable) string { return c.Serial }),
		cableText("revision", "", func(c *health.Cable) string { return c.Revision }),
		cableText("length", "", func(c *health.Cable) string { return c.Length }),
		cableText("type", "", func(c *health.Cable) string { return c.Type }),
		cableText("firmware", "", func(c *health.Cable) string { return c.Firmware }),
		{Key: "temperature", Name: "CELSIUS", Unit: "C", Kind: answer.KindInt, Help: "temperature of the module",
			Value: celsius},
		power("rx_power", "RX dBm", "received optical power of the weakest lane", func(o *health.Optics) health.Level {
			return o.Weakest()
		}),
		power("rx_power_limit", "", "lowest received power that the module permits",
			func(o *health.Optics) health.Level { return o.RxLow }),
		answer.FieldOf(answer.KindText, "fec", "FEC", "forward error correction in use", func(p port) answer.Value {
			return mode(p.FEC, p.FEC == health.Unknown)
		}),
		answer.FieldOf(answer.KindText, "retransmission", "RETRANS", "link-level retransmission",
			func(p port) answer.Value { return mode(p.Retrans, p.Retrans == health.Unknown) }),
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

// cableText declares a text of the cable. It does not apply without a cable.
func cableText(key, name string, value func(*health.Cable) string) answer.Field[port] {
	return answer.OptionalField(key, name, "", func(p port) string {
		if p.Cable == nil {
			return ""
		}
		return value(p.Cable)
	})
}

// description returns the texts of the cable in one line.
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

// power declares an optical power. It does not apply without a cable.
func power(key, name, help string, value func(*health.Optics) health.Level) answer.Field[port] {
	return answer.Field[port]{Key: key, Name: name, Unit: "dBm", Kind: answer.KindFloat, Help: help,
		Value: func(p port) answer.Value {
			if p.Cable == nil {
				return answer.None()
			}
			return feature.Level(value(&p.Cable.Optics), 1)
		}}
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
