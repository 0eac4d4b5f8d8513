// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"
	"reflect"
	"time"
)

// Fields returns the fields of the struct R by its tags: `key:"a" name:"PORT" unit:"Gbit/s" help:"..."`. Fields
// without key and name are skipped. Types are strings, numbers, booleans, times, durations, lists of strings,
// [Place] and [Value]; the tag kind tells what a number or a Value is: guid, lid, int, float, text, bool, time,
// duration, texts, list or place. A pointer that is nil is [None]. It panics on another type: a declaration is a
// package variable, so that a test finds it. A struct with the tag prefix contributes its fields, with the prefix
// before their keys and names; those of a nil pointer to a struct are [None].
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

// tagged is a field of a struct with tags; read takes the struct or a pointer to it.
type tagged struct {
	Column
	read func(reflect.Value) Value
}

func fieldsOf(t reflect.Type) []tagged {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var fields []tagged
	for i := range t.NumField() {
		f := t.Field(i)
		key, name := f.Tag.Get("key"), f.Tag.Get("name")
		if prefix, nested := f.Tag.Lookup("prefix"); nested {
			for _, x := range fieldsOf(f.Type) {
				x.Key, x.Name = prefixed(prefix, x.Key), prefixed(prefix, x.Name)
				fields = append(fields, tagged{x.Column, in(i, x.read)})
			}
			continue
		}
		if key == "" && name == "" {
			continue
		}
		kind, read := reader(f.Type, f.Tag.Get("kind"))
		column := Column{Key: key, Name: name, Unit: f.Tag.Get("unit"), Help: f.Tag.Get("help"), Kind: kind}
		fields = append(fields, tagged{column, in(i, read)})
	}
	return fields
}

// in returns read for field i of a struct, [None] where the struct is a nil pointer.
func in(i int, read func(reflect.Value) Value) func(reflect.Value) Value {
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

// kinds are the words of the tag kind.
var kinds = map[string]Kind{
	"guid": KindGUID, "lid": KindLID, "int": KindInt, "float": KindFloat, "text": KindText, "bool": KindBool,
	"time": KindTime, "duration": KindDuration, "texts": KindTexts, "list": KindList, "map": KindMap,
	"place": KindPlace,
}

// reader returns the kind of a type and the function that makes a Value of it.
func reader(t reflect.Type, word string) (Kind, func(reflect.Value) Value) {
	kind, named := kinds[word]
	switch t {
	case reflect.TypeFor[Value]():
		if !named {
			panic(fmt.Sprintf("answer: a Value needs the tag kind, not %q", word))
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
	panic(fmt.Sprintf("answer: no kind of value is a %v", t))
}

// floatDigits is how many digits after the point people read of a float in a struct.
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
