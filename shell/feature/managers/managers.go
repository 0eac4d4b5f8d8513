// SPDX-License-Identifier: Apache-2.0

// Package managers lists the subnet managers of a subnet. It also sets the port and the type of the master.
package managers

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/calibration"
	"example.org/ibconsole/shell/session/managers"
)

// Feature provides the commands "show sms" and "set sm".
var Feature = feature.Feature{Name: "managers", Commands: []feature.Command{
	{
		Path: "show sms", Summary: "List the subnet managers",
		Examples: []string{
			"show sms",
			"sweep; show sms",
		},
		Answers: []answer.Declared{&decl},
		Run:     run,
	},
	{Path: "set", Group: feature.GroupSession, Summary: "Set a property of the session"},
	{
		Path: "set sm", Summary: "Set the port or the type of the subnet manager",
		Help: "If the subnet comes from a file, LIDs are counted from this port.",
		Args: []lang.Arg{{Name: "NAME|GUID", Kind: lang.KindPlace, Optional: true}},
		Options: []lang.Option{{Name: "kind", Kind: lang.KindWord, Words: managers.Kinds,
			Summary: "type of the master SM: opensm (OpenFabrics) or mlnx (MLNX_OpenSM), until another SM is master"}},
		Examples: []string{"set sm kind=mlnx", "set sm node-0001 kind=opensm"},
		Answers:  []answer.Declared{typeDecl, portDecl},
		Run:      set,
	},
}}

// managerList holds the subnet managers that the last sweep found. It also states whether predictions of the master's
// tables are proved.
type managerList struct {
	f     *fabric.Fabric
	all   []managers.SM
	proof *calibration.Proof // nil where no other program computes tables
}

// manager is a row of the table.
type manager struct {
	f *fabric.Fabric
	*managers.SM
}

func (m manager) port() fabric.PortIndex { return m.f.PortByGUID(m.GUID) }

var table = answer.Table[manager]{
	Key: "managers", Title: "subnet managers", Stream: true,
	Row:   "{guid} {state} priority {priority|#} on {port}",
	Empty: "the sweep found no subnet manager",
	Fields: []answer.Field[manager]{
		{Key: "guid", Name: "GUID", Kind: answer.KindGUID, Help: "of its port", Value: func(m manager) answer.Value {
			return answer.GUID(m.GUID)
		}},
		{Key: "port", Name: "PORT", Kind: answer.KindPlace, Value: func(m manager) answer.Value {
			return answer.Port(m.f, m.port())
		}},
		{Key: "priority", Name: "PRIORITY", Kind: answer.KindInt, Help: "the highest one is master", Value: priority},
		answer.TextField("state", "STATE", "silent: it does not respond", func(m manager) string { return m.State }),
		{Key: "vendor", Name: "VENDOR", Kind: answer.KindText, Help: "vendor ID of the node",
			Value: func(m manager) answer.Value { return feature.VendorID(m.VendorID) }},
		answer.BoolField("in_switch", "IN A SWITCH", "whether it runs inside a switch", func(m manager) bool {
			return m.InSwitch
		}),
	},
	Lead: func(m manager) answer.Lead { return feature.ToPort(m.f, m.port()) },
}

var decl = answer.Decl[managerList]{
	Command: "show sms", Help: "the subnet managers that the last sweep found",
	Facts: []answer.Field[managerList]{
		{Key: "proved", Kind: answer.KindBool, Help: "the settings are proved to yield the tables that the master " +
			"computes",
			Value: fromProof(func(p *calibration.Proof) answer.Value { return answer.Bool(p.Proved) })},
		{Key: "why", Kind: answer.KindText, Help: "how that was proved, or why it is not",
			Value: fromProof(func(p *calibration.Proof) answer.Value { return answer.Text(p.Why) })},
		{Key: "compared", Kind: answer.KindTime, Help: "when calibrate compared the tables",
			Value: fromProof(func(p *calibration.Proof) answer.Value {
				if p.When == nil {
					return answer.None()
				}
				return answer.Time(*p.When)
			})},
		{Key: "entries", Kind: answer.KindInt, Help: "entries that calibrate compared",
			Value: fromProof(func(p *calibration.Proof) answer.Value {
				if p.When == nil {
					return answer.None()
				}
				return answer.Int(p.Entries)
			})},
		{Key: "type", Kind: answer.KindText, Help: "type of the master, as set by set sm kind=",
			Value: fromProof(func(p *calibration.Proof) answer.Value {
				return answer.Optional(string(p.Manager))
			})},
		{Key: "signs", Kind: answer.KindText, Help: "what shows the type of the master",
			Value: fromProof(func(p *calibration.Proof) answer.Value { return answer.Optional(p.Signs) })},
		{
			Name: "proof", Kind: answer.KindText, Value: fromProof(func(p *calibration.Proof) answer.Value {
				return answer.Text(p.String())
			}),
		},
	},
	Layout: []answer.Item[managerList]{
		{Table: answer.Show(&table, func(m managerList) answer.Rows[manager] {
			return answer.Lazy(len(m.all), func(i int) manager { return manager{m.f, &m.all[i]} })
		})},
		{Line: "{?type}master SM type {type}"},
		{Line: "{?proof}{proof}"},
	},
}

func run(c *feature.Call) error {
	st := c.Session.State()
	m := managerList{f: st.Live.Fabric, all: st.SMs}
	if proof := st.Proof(); proof.Asked {
		m.proof = &proof
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks), m))
}

// fromProof returns a function for a field about the proof. It calls the function value, or returns None if there is no
// proof.
func fromProof(value func(*calibration.Proof) answer.Value) func(managerList) answer.Value {
	return func(m managerList) answer.Value {
		if m.proof == nil {
			return answer.None()
		}
		return value(m.proof)
	}
}

func priority(m manager) answer.Value {
	if m.State == managers.Silent {
		return answer.NotRead()
	}
	return answer.Int(m.Priority)
}

// masterType is the answer with the type of the master subnet manager that the user set.
type masterType struct {
	Type string `key:"type" name:"type"`
}

// masterPort is the answer with the port of the subnet manager that the user set.
type masterPort struct {
	Port answer.Value `key:"sm" name:"sm" kind:"place"`
}

var (
	typeDecl = feature.OneLine[masterType]("set sm", "the type of the master subnet manager",
		"master SM type {type}")
	portDecl = feature.OneLine[masterPort]("set sm", "the port of the subnet manager", "LIDs are counted from {sm}")
)

func set(c *feature.Call) error {
	st := c.Session.State()
	kind := c.Option("kind", "")
	switch {
	case kind == "" && c.Arg(0) == "":
		return c.Misused("set sm: expected a place, kind=, or both")
	case kind != "":
		if _, ok := st.Master(); !ok {
			return errors.New("the subnet has no master subnet manager")
		}
		c.Session.Publish(session.ChangeSettings, func(st *session.State) { st.SetManager(managers.Kind(kind)) })
	}
	if c.Arg(0) == "" {
		return c.Answer(typeDecl.Answer(st.SourceBasis(), masterType{kind}))
	}
	p, err := places.Resolve(st.Live.Fabric, c.Arg(0))
	if err != nil {
		return err
	}
	if err := setSM(c, p.Port); err != nil {
		return err
	}
	return c.Answer(portDecl.Answer(st.SourceBasis(), masterPort{answer.Port(st.Live.Fabric, p.Port)}))
}

// setSM sets the port of the subnet manager, at which engines begin to count LIDs. It fails unless the subnet comes
// from a file.
func setSM(c *feature.Call, port fabric.PortIndex) error {
	s := c.Session
	op, err := s.Begin(c.Ctx, "set sm")
	if err != nil {
		return err
	}
	defer op.End()
	st := s.State()
	if s.Connection().Online() {
		return fmt.Errorf("the session is attached to %s: the port can only be set for a subnet from a file",
			st.Live.Fabric.PortName(st.Live.Fabric.SMPort))
	}
	if st.Base != nil {
		return errors.New("simulated failures depend on the current port; hint: run 'restore all'")
	}
	f, err := st.Live.Fabric.WithSMPort(port)
	if err != nil {
		return err
	}
	s.Publish(session.ChangeLive|session.ChangePaper|session.ChangeStaged, func(st *session.State) {
		st.Live = &session.Picture{Kind: session.Live, Fabric: f, When: st.Live.When}
		st.Unstage()
	})
	return nil
}
