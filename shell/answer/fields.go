// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Field is a value of an answer or of a row of a table. Only text shows a field without a key. Only JSON and CSV
// contain a field without a name.
type Field[T any] struct {
	Key   string // key in JSON and CSV
	Name  string // label or column heading for people
	Unit  string // "Gbit/s", "" for none
	Help  string
	Kind  Kind
	Value func(T) Value
}

// FieldOf returns a field of the given kind. The functions below return fields of one kind.
func FieldOf[T any](kind Kind, key, name, help string, value func(T) Value) Field[T] {
	return Field[T]{Key: key, Name: name, Help: help, Kind: kind, Value: value}
}

// IntField returns a field of whole numbers.
func IntField[T any, N integers](key, name, help string, value func(T) N) Field[T] {
	return FieldOf(KindInt, key, name, help, func(v T) Value { return Int(value(v)) })
}

// TextField returns a field of texts.
func TextField[T any](key, name, help string, value func(T) string) Field[T] {
	return FieldOf(KindText, key, name, help, func(v T) Value { return Text(value(v)) })
}

// OptionalField returns a field of texts. An empty text is [None].
func OptionalField[T any](key, name, help string, value func(T) string) Field[T] {
	return FieldOf(KindText, key, name, help, func(v T) Value { return Optional(value(v)) })
}

// BoolField returns a field of truth values.
func BoolField[T any](key, name, help string, value func(T) bool) Field[T] {
	return FieldOf(KindBool, key, name, help, func(v T) Value { return Bool(value(v)) })
}

// TimeField returns a field of times. The zero time is [None].
func TimeField[T any](key, name, help string, value func(T) time.Time) Field[T] {
	return FieldOf(KindTime, key, name, help, func(v T) Value { return Time(value(v)) })
}

// GUIDField returns a field of GUIDs.
func GUIDField[T any](key, name, help string, value func(T) uint64) Field[T] {
	return FieldOf(KindGUID, key, name, help, func(v T) Value { return GUID(value(v)) })
}

// LIDField returns a field of LIDs. LID 0 is [None].
func LIDField[T any](key, name, help string, value func(T) uint16) Field[T] {
	return FieldOf(KindLID, key, name, help, func(v T) Value { return LID(value(v)) })
}

// PlaceField returns a field of places: the function value returns [Node], [Port] or [At].
func PlaceField[T any](key, name, help string, value func(T) Value) Field[T] {
	return FieldOf(KindPlace, key, name, help, value)
}

func columnOf[T any](f *Field[T]) Column {
	return Column{f.Key, f.Name, f.Unit, helpOf(f.Name, f.Help), f.Kind}
}

// Column is a [Field] without the function that returns its values.
type Column struct {
	Key, Name, Unit, Help string
	Kind                  Kind
}

// id returns the word that forms use for the field: its key, or its name if it has no key.
func (c *Column) id() string {
	if c.Key != "" {
		return c.Key
	}
	return c.Name
}

// Fields returns the fields of the struct R from its tags: `key:"a" name:"PORT" unit:"Gbit/s" help:"..."`. It skips
// struct fields with neither key nor name.
//
// The types are strings, numbers, booleans, times, durations, lists of strings, [Place] and [Value]. The tag kind gives
// the kind of a number or a Value: guid, lid, int, float, text, bool, time, duration, texts, list, map or place. A nil
// pointer is [None]. Fields panics on other types. Declarations are package variables, so every test finds such a
// fault.
//
// A struct field with the tag prefix contributes its own fields, with the prefix before their keys and names. The
// fields of a nil pointer to a struct are [None].
func Fields[R any]() []Field[R] {
	var fields []Field[R]
	for _, f := range fieldsOf(reflect.TypeFor[R]()) {
		fields = append(fields, Field[R]{
			Key: f.Key, Name: f.Name, Unit: f.Unit, Help: f.Help, Kind: f.Kind,
			Value: func(r R) Value { return f.read(reflect.ValueOf(r)) },
		})
	}
	return fields
}

// taggedField is a field of a struct with tags. The function read accepts the struct or a pointer to the struct.
type taggedField struct {
	Column
	read func(reflect.Value) Value
}

func fieldsOf(t reflect.Type) []taggedField {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var fields []taggedField
	for i := range t.NumField() {
		f := t.Field(i)
		key, name := f.Tag.Get("key"), f.Tag.Get("name")
		if prefix, nested := f.Tag.Lookup("prefix"); nested {
			for _, x := range fieldsOf(f.Type) {
				x.Key, x.Name = prefixed(prefix, x.Key), prefixed(prefix, x.Name)
				fields = append(fields, taggedField{x.Column, fieldReader(i, x.read)})
			}
			continue
		}
		if key == "" && name == "" {
			continue
		}
		kind, read := reader(f.Type, f.Tag.Get("kind"))
		column := Column{Key: key, Name: name, Unit: f.Tag.Get("unit"), Help: f.Tag.Get("help"), Kind: kind}
		fields = append(fields, taggedField{column, fieldReader(i, read)})
	}
	return fields
}

// fieldReader returns a function that calls the function read with the struct field number i. For a nil pointer the
// function returns [None].
func fieldReader(i int, read func(reflect.Value) Value) func(reflect.Value) Value {
	return func(v reflect.Value) Value {
		if v = reflect.Indirect(v); !v.IsValid() {
			return None()
		}
		return read(v.Field(i))
	}
}

func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}

// kinds maps the values of the tag kind.
var kinds = map[string]Kind{
	"guid": KindGUID, "lid": KindLID, "int": KindInt, "float": KindFloat, "text": KindText, "bool": KindBool,
	"time": KindTime, "duration": KindDuration, "texts": KindTexts, "list": KindList, "map": KindMap,
	"place": KindPlace,
}

// reader returns the kind of a Go type, and a function that converts its values to Values. The argument word is the
// value of the tag kind, or "" if there is no such tag.
func reader(t reflect.Type, word string) (Kind, func(reflect.Value) Value) {
	kind, named := kinds[word]
	switch t {
	case reflect.TypeFor[Value]():
		if !named {
			panic(fmt.Sprintf("answer: a Value needs the tag kind, got %q", word))
		}
		return kind, func(v reflect.Value) Value { return v.Interface().(Value) }
	case reflect.TypeFor[time.Time]():
		return KindTime, func(v reflect.Value) Value { return Time(v.Interface().(time.Time)) }
	case reflect.TypeFor[time.Duration]():
		return KindDuration, func(v reflect.Value) Value { return Duration(v.Interface().(time.Duration)) }
	case reflect.TypeFor[Place]():
		return KindPlace, func(v reflect.Value) Value { return At(v.Interface().(Place)) }
	case reflect.TypeFor[[]string]():
		return KindTexts, func(v reflect.Value) Value { return Texts(v.Interface().([]string)) }
	}
	switch t.Kind() {
	case reflect.Pointer:
		kind, read := reader(t.Elem(), word)
		return kind, func(v reflect.Value) Value {
			if v.IsNil() {
				return None()
			}
			return read(v.Elem())
		}
	case reflect.String:
		return KindText, func(v reflect.Value) Value { return Text(v.String()) }
	case reflect.Bool:
		return KindBool, func(v reflect.Value) Value { return Bool(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return KindInt, func(v reflect.Value) Value { return Int(v.Int()) }
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return unsigned(kind)
	case reflect.Float64, reflect.Float32:
		return KindFloat, func(v reflect.Value) Value { return Float(v.Float(), floatDigits) }
	}
	panic(fmt.Sprintf("answer: no kind for the type %v", t))
}

// floatDigits is the number of decimals that text shows for a float field of a struct.
const floatDigits = 2

func unsigned(kind Kind) (Kind, func(reflect.Value) Value) {
	switch kind {
	case KindGUID:
		return kind, func(v reflect.Value) Value { return GUID(v.Uint()) }
	case KindLID:
		return kind, func(v reflect.Value) Value { return LID(uint16(v.Uint())) }
	}
	return KindInt, func(v reflect.Value) Value { return Int(int64(v.Uint())) }
}

// commonHelp is the help of columns that mean the same in every answer. Its keys are the column names in lower case.
var commonHelp = map[string]string{
	"node":     "node description, or the name from a node-name map",
	"switch":   "node description, or the name from a node-name map",
	"name":     "node description, or the name from a node-name map",
	"guid":     "GUID of the node",
	"lid":      "local identifier, assigned by the subnet manager",
	"lids":     "number of destination LIDs",
	"mlid":     "multicast LID; switches forward by it",
	"mgid":     "multicast GID; programs name the group by it",
	"port":     "node and port number; port 0 is the switch itself",
	"from":     "port from which packets leave",
	"to":       "port at which packets arrive",
	"link":     "active width and speed, for example 4xHDR",
	"paths":    "paths over the link, all end ports to all others",
	"sl":       "service level; SL2VL tables map it to a VL",
	"vl":       "virtual lane; each has its own buffers",
	"vls":      "virtual lanes in use",
	"mtu":      "largest packet, in bytes",
	"rate":     "slowest link that packets may cross, in Gbit/s",
	"p_key":    "partition key",
	"hops":     "links of the path",
	"next hop": "node at the other end of the port",
	"engine":   "routing engine",
	"why":      "reason",
	"entries":  "entries of forwarding tables",
	"changed":  "entries that differ",
	"lost":     "pairs with a path that does not arrive",
	"down":     "ports without a link",
}

// helpOf returns the given help of a column, or the common help for its name if the argument help is "".
func helpOf(name, help string) string { return cmp.Or(help, commonHelp[strings.ToLower(name)]) }
