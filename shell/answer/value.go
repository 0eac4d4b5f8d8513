// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/plain"
	"example.org/ibconsole/internal/base/when"
)

// Kind is the kind of a [Value]. A field declares its kind for the JSON Schema.
type Kind uint8

// The kinds of values.
const (
	KindNone Kind = iota
	KindText
	KindInt
	KindFloat
	KindBool
	KindGUID
	KindLID
	KindTime
	KindDuration
	KindTexts
	KindList
	KindMap
	KindPlace
	kindNotRead
)

// Value is a number, text, place or list of an answer. The zero Value is [None]. A Value has 48 bytes; pass it by
// value.
type Value struct {
	kind   Kind
	digits int8   // decimals of a float in text
	num    uint64 // of integers, the bits of a float, the index of a place
	text   string
	ref    any // the fabric of a place, the elements of a list
}

// None returns the value of a field that does not apply. JSON omits its key; text shows "-".
func None() Value { return Value{} }

// NotRead returns the value of a field that applies but is unknown. JSON shows null, text "not read".
func NotRead() Value { return Value{kind: kindNotRead} }

// Text returns a text value. The text may contain any characters, because each output form escapes it.
func Text(s string) Value { return Value{kind: KindText, text: s} }

// Optional returns a text, [None] for "".
func Optional(s string) Value {
	if s == "" {
		return None()
	}
	return Text(s)
}

// integers are the types of whole numbers that fit into an int64.
type integers interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32
}

// Int returns a whole number.
func Int[N integers](n N) Value {
	return Value{kind: KindInt, num: uint64(int64(n))}
}

// Float returns a number that text shows with the given number of decimals. NaN and infinities become [NotRead].
func Float(x float64, digits int) Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return NotRead()
	}
	return Value{kind: KindFloat, num: math.Float64bits(x), digits: int8(digits)}
}

// Scientific returns a number that text shows with two significant digits and an exponent: 1.5e-12.
func Scientific(x float64) Value { return Float(x, scientific) }

// scientific is the value of digits for a float that text shows with an exponent.
const scientific = -1

// Bool returns a truth value, "yes" or "no" in text.
func Bool(b bool) Value {
	v := Value{kind: KindBool}
	if b {
		v.num = 1
	}
	return v
}

// GUID returns a GUID, 0x and 16 digits.
func GUID(guid uint64) Value { return Value{kind: KindGUID, num: guid} }

// LID returns a LID; 0 is [None].
func LID(lid uint16) Value {
	if lid == 0 {
		return None()
	}
	return Value{kind: KindLID, num: uint64(lid)}
}

// Time returns a time value. The zero time is [None].
func Time(t time.Time) Value {
	if t.IsZero() {
		return None()
	}
	return Value{kind: KindTime, ref: t}
}

// Duration returns a duration, in seconds in JSON.
func Duration(d time.Duration) Value { return Value{kind: KindDuration, num: uint64(int64(d))} }

// Texts returns a list of texts.
func Texts(s []string) Value { return Value{kind: KindTexts, ref: s} }

// List returns a list of values.
func List(v []Value) Value { return Value{kind: KindList, ref: v} }

// Named is an entry of a map.
type Named struct {
	Name  string
	Value Value
}

// Map returns a value with named entries, in order. In JSON it is an object.
func Map(entries []Named) Value { return Value{kind: KindMap, ref: entries} }

// Ints returns a list of whole numbers.
func Ints[N integers](numbers []N) Value {
	v := make([]Value, len(numbers))
	for i, n := range numbers {
		v[i] = Int(n)
	}
	return List(v)
}

// PortNumber returns the number of a port, and its label in text; [fabric.None] is [None].
func PortNumber(f *fabric.Fabric, port fabric.PortIndex) Value {
	if port == fabric.None {
		return None()
	}
	return Value{kind: KindInt, num: uint64(f.Ports[port].Num), text: f.PortNumber(port)}
}

// NumberAt returns a port number of a node, and the label of the port in text. The node may lack the port.
func NumberAt(f *fabric.Fabric, node fabric.NodeIndex, num uint8) Value {
	if node == fabric.None || f.PortAt(node, int(num)) == fabric.None {
		return Int(num)
	}
	return PortNumber(f, f.PortAt(node, int(num)))
}

// PortLabel returns the label that is printed at a port. It is [None] if it is unknown, and for [fabric.None].
func PortLabel(f *fabric.Fabric, port fabric.PortIndex) Value {
	if port == fabric.None {
		return None()
	}
	return Optional(f.Label(port))
}

// Port returns a port of a fabric as a place; [fabric.None] is [None].
func Port(f *fabric.Fabric, port fabric.PortIndex) Value {
	if port == fabric.None {
		return None()
	}
	return Value{kind: KindPlace, num: uint64(uint32(port)), ref: (*portsOf)(f)}
}

// Node returns a node of a fabric as a place; [fabric.None] is [None].
func Node(f *fabric.Fabric, node fabric.NodeIndex) Value {
	if node == fabric.None {
		return None()
	}
	return Value{kind: KindPlace, num: uint64(uint32(node)), ref: (*nodesOf)(f)}
}

// At returns a place without a fabric.
func At(p Place) Value { return Value{kind: KindPlace, ref: p} }

// portsOf and nodesOf are the fabric in a Value that is a place. The type shows whether the num of the Value is the
// index of a port or of a node.
type (
	portsOf fabric.Fabric
	nodesOf fabric.Fabric
)

// Place is a node or port.
type Place struct {
	Name string // node description, not escaped
	GUID uint64 // of the node
	LID  uint16 // of the port, of port 0 for a switch; 0 for none
	Port int    // -1 for the node itself
	// Label is the label that is printed at the port, not escaped. It is "" if it is unknown.
	Label string
	// Shared is set if several nodes have the name. The text then has the GUID, too.
	Shared bool
}

// Kind returns the kind of the value. It is [KindNone] for [NotRead].
func (v Value) Kind() Kind {
	if v.kind == kindNotRead {
		return KindNone
	}
	return v.kind
}

// IsNone reports whether the value does not apply.
func (v Value) IsNone() bool { return v.kind == KindNone }

// IsNotRead reports whether the value applies but is unknown.
func (v Value) IsNotRead() bool { return v.kind == kindNotRead }

// Int returns the number of an integer, LID, truth value or duration (in nanoseconds). It returns 0 for other kinds.
func (v Value) Int() int64 {
	switch v.kind {
	case KindInt, KindLID, KindBool, KindDuration:
		return int64(v.num)
	}
	return 0
}

// IsTrue reports whether the value is the truth value true.
func (v Value) IsTrue() bool { return v.kind == KindBool && v.num == 1 }

// Place returns the place. ok is false if the value is of another kind.
func (v Value) Place() (p Place, ok bool) {
	if v.kind != KindPlace {
		return Place{}, false
	}
	switch ref := v.ref.(type) {
	case *portsOf:
		f := (*fabric.Fabric)(ref)
		port := &f.Ports[v.num]
		n := &f.Nodes[port.Node]
		at := fabric.PortIndex(v.num)
		p := Place{n.Desc, n.GUID, f.LIDOf(at), int(port.Num), f.Label(at), f.IsShared(port.Node)}
		if n.IsSwitch() {
			p.LID = f.LIDOf(n.FirstPort)
		}
		return p, true
	case *nodesOf:
		f := (*fabric.Fabric)(ref)
		n := &f.Nodes[v.num]
		p := Place{Name: n.Desc, GUID: n.GUID, Port: -1, Shared: f.IsShared(fabric.NodeIndex(v.num))}
		if n.IsSwitch() {
			p.LID = f.LIDOf(n.FirstPort)
		}
		return p, true
	}
	return v.ref.(Place), true
}

// String returns the value for text: one line without control characters.
func (v Value) String() string {
	switch v.kind {
	case kindNotRead:
		return "not read"
	case KindText:
		return plain.EscapeLine(v.text)
	case KindInt, KindLID:
		if v.text != "" {
			return v.text
		}
		return strconv.FormatInt(int64(v.num), 10)
	case KindFloat:
		if v.digits == scientific {
			return strconv.FormatFloat(v.float(), 'g', 2, 64)
		}
		return strconv.FormatFloat(v.float(), 'f', int(v.digits), 64)
	case KindBool:
		if v.num == 1 {
			return "yes"
		}
		return "no"
	case KindGUID:
		return guidText(v.num)
	case KindTime:
		return when.Text(v.time())
	case KindDuration:
		return durationText(time.Duration(v.num))
	case KindTexts, KindList, KindMap:
		return strings.Join(v.elements(), ", ")
	case KindPlace:
		p, _ := v.Place()
		return p.String()
	}
	return "-"
}

// String returns NAME, NAME/PORT or "NAME/PORT (LABEL)", escaped. If the name is empty, the GUID replaces it. NAME is
// that of [fabric.Fabric.NodeName].
func (p Place) String() string {
	name := fabric.Escape(p.Name)
	if p.Name == "" {
		name = guidText(p.GUID)
	} else if p.Shared {
		name += " (" + guidText(p.GUID) + ")"
	}
	if p.Port < 0 {
		return name
	}
	name += "/" + strconv.Itoa(p.Port)
	if p.Label != "" {
		name += " (" + fabric.Escape(p.Label) + ")"
	}
	return name
}

// durationText rounds to about four digits.
func durationText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		d = d.Round(time.Microsecond)
	case d < time.Second:
		d = d.Round(100 * time.Microsecond)
	default:
		d = d.Round(time.Millisecond)
	}
	return d.String()
}

func (v Value) float() float64 { return math.Float64frombits(v.num) }

func (v Value) time() time.Time { return v.ref.(time.Time) }

// elements returns the elements of a list as texts.
func (v Value) elements() []string {
	var out []string
	switch list := v.ref.(type) {
	case []string:
		for _, s := range list {
			out = append(out, plain.EscapeLine(s))
		}
	case []Value:
		for _, x := range list {
			out = append(out, x.String())
		}
	case []Named:
		for _, x := range list {
			out = append(out, plain.EscapeLine(x.Name)+" "+x.Value.String())
		}
	}
	return out
}

// Compare orders two values of a field by number, time or text. [None] and [NotRead] come first.
func (v Value) Compare(w Value) int {
	if v.kind != w.kind {
		return int(v.order()) - int(w.order())
	}
	switch v.kind {
	case KindInt, KindLID, KindBool, KindDuration:
		return cmp.Compare(int64(v.num), int64(w.num))
	case KindGUID:
		return cmp.Compare(v.num, w.num)
	case KindFloat:
		return cmp.Compare(v.float(), w.float())
	case KindTime:
		return v.time().Compare(w.time())
	}
	return strings.Compare(v.String(), w.String())
}

func (v Value) order() Kind {
	if v.kind == kindNotRead {
		return KindNone
	}
	return v.kind + 1
}

func guidText(guid uint64) string {
	const digits = "0123456789abcdef"
	b := []byte("0x0000000000000000")
	for i := len(b) - 1; i > 1; i-- {
		b[i] = digits[guid&15]
		guid >>= 4
	}
	return string(b)
}
