// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/json"
	"reflect"
	"slices"
)

// withLists returns a copy of v in which lists and maps that are nil are empty, so
// that JSON has [] and {} for what holds nothing, not null. What marshals itself is
// left alone.
func withLists(v any) any {
	in := reflect.ValueOf(v)
	if !in.IsValid() || !nullable(in.Type(), nil) {
		return v
	}
	out := reflect.New(in.Type()).Elem()
	out.Set(in)
	fillLists(out)
	return out.Interface()
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// nullable reports whether a list or map can be somewhere in a value of the type.
func nullable(t reflect.Type, above []reflect.Type) bool {
	if slices.Contains(above, t) {
		return true // within itself
	}
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return false
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Array:
		return nullable(t.Elem(), append(above, t))
	case reflect.Struct:
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && nullable(f.Type, append(above, t)) {
				return true
			}
		}
	}
	return false
}

// fillLists makes nil lists and maps in v, which can be set, empty. What v shares
// with others is copied before it is changed.
func fillLists(v reflect.Value) {
	if !v.CanSet() && v.Kind() != reflect.Struct || !nullable(v.Type(), nil) {
		return
	}
	switch v.Kind() {
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		} else if nullable(v.Type().Elem(), nil) {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			for i := range own.Len() {
				fillLists(own.Index(i))
			}
			v.Set(own)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		own := reflect.New(v.Elem().Type())
		own.Elem().Set(v.Elem())
		fillLists(own.Elem())
		if v.Kind() == reflect.Pointer {
			v.Set(own)
		} else {
			v.Set(own.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			fillLists(f)
		}
	}
}
