// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"encoding/json"
	"reflect"
)

// withLists returns a copy of v in which lists and maps that are nil are empty, so that JSON has [] and {}
// for what holds nothing, not null. What marshals itself is left alone.
func withLists(v any) any {
	fillLists(reflect.ValueOf(&v).Elem())
	return v
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// fillLists makes nil lists and maps in v, which can be set, empty. What v shares
// with others is copied before it is changed.
func fillLists(v reflect.Value) {
	t := v.Type()
	if !v.CanSet() && v.Kind() != reflect.Struct || t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return
	}
	switch v.Kind() {
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(t))
		}
	case reflect.Slice:
		own := reflect.MakeSlice(t, v.Len(), v.Len())
		reflect.Copy(own, v)
		v.Set(own)
		fallthrough
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
		if v.Kind() == reflect.Interface {
			own = own.Elem()
		}
		v.Set(own)
	case reflect.Struct:
		for _, f := range v.Fields() {
			fillLists(f)
		}
	}
}
