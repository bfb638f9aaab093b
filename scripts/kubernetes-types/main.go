// Writes catalog/go/kubernetes-types.ts: the types of Kubernetes that manifests of bundles are decoded into, read by
// reflection from Kubernetes' own modules.
//
//	npm run kubernetes-types
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"reflect"
	"regexp"
	"strings"

	apps "k8s.io/api/apps/v1"
	rbac "k8s.io/api/rbac/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	beta "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the catalog reads, and under which name.
var exported = []struct {
	name  string
	value any
	exact bool
}{
	{"OBJECT_META", meta.ObjectMeta{}, false},
	{"POLICY_RULE", rbac.PolicyRule{}, false},
	{"LABEL_SELECTOR", meta.LabelSelector{}, false},
	{"DEPLOYMENT_SPEC", apps.DeploymentSpec{}, false},
	{"JSON_SCHEMA", extensions.JSONSchemaProps{}, true},
	{"CRD_V1", extensions.CustomResourceDefinition{}, true},
	{"CRD_V1BETA1", beta.CustomResourceDefinition{}, true},
}

// Types with a reader of their own, which kubernetes-readers.ts has.
var readers = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():                       "quantity",
	reflect.TypeFor[intstr.IntOrString]():                      "intOrString",
	reflect.TypeFor[meta.Time]():                               "time",
	reflect.TypeFor[meta.FieldsV1]():                           "any",
	reflect.TypeFor[extensions.JSON]():                         "any",
	reflect.TypeFor[extensions.JSONSchemaPropsOrArray]():       "schemaOrArray",
	reflect.TypeFor[extensions.JSONSchemaPropsOrBool]():        "schemaOrBool",
	reflect.TypeFor[extensions.JSONSchemaPropsOrStringArray](): "any",
}

var (
	schema     = reflect.TypeFor[extensions.JSONSchemaProps]()
	betaSchema = reflect.TypeFor[beta.JSONSchemaProps]()
	unmarshal  = reflect.TypeFor[json.Unmarshaler]()
	constants  = map[reflect.Type]string{}
	taken      = map[string]reflect.Type{}
	out        strings.Builder
)

func main() {
	for _, root := range exported {
		if !root.exact {
			constants[reflect.TypeOf(root.value)] = root.name
			taken[root.name] = reflect.TypeOf(root.value)
		}
	}
	defined := map[reflect.Type]bool{}
	for _, root := range exported {
		t := reflect.TypeOf(root.value)
		switch {
		case t == schema:
			defineSchema(defined)
		case root.exact:
			define(t, defined)
			fmt.Fprintf(&out, "\n/** `%s.%s` */\nexport const %s: StructShape = exact(%s);\n", t.PkgPath(), t.Name(), root.name, constantOf(t))
		default:
			define(t, defined)
		}
	}
	if err := os.WriteFile("../../catalog/go/kubernetes-types.ts", []byte(header()+out.String()), 0o644); err != nil {
		log.Fatal(err)
	}
}

// A schema contains itself, so its fields are assigned after it.
func defineSchema(defined map[reflect.Type]bool) {
	constants[schema] = "JSON_SCHEMA"
	defined[schema] = true
	defineFields(schema, defined)
	fmt.Fprintf(&out, "\nconst SCHEMA_FIELDS: Record<string, Shape> = {};\n")
	fmt.Fprintf(&out, "/** `%s.%s`, also of v1beta1. */\nexport const JSON_SCHEMA: StructShape = {kind: 'struct', name: '%s', fields: SCHEMA_FIELDS, exactKeys: true};\n", schema.PkgPath(), schema.Name(), schema)
	fmt.Fprintf(&out, "const SCHEMA: StructShape = struct('%s', {%s});\nObject.assign(SCHEMA_FIELDS, exact(SCHEMA).fields);\n", schema, fieldsOf(schema))
}

// Defines a struct after those that it contains.
func define(t reflect.Type, defined map[reflect.Type]bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t = known(t); t.Kind() != reflect.Struct || defined[t] || readers[t] != "" {
		return
	}
	if reflect.PointerTo(t).Implements(unmarshal) {
		log.Fatalf("%s.%s has a reader of its own: add it to readers", t.PkgPath(), t.Name())
	}
	defined[t] = true
	defineFields(t, defined)
	name, prefix := constantOf(t), "\n"
	for _, root := range exported {
		if root.name == name {
			prefix = fmt.Sprintf("\n/** `%s.%s` */\nexport ", t.PkgPath(), t.Name())
		}
	}
	fmt.Fprintf(&out, "%sconst %s: StructShape = struct('%s', {%s});\n", prefix, name, t, fieldsOf(t))
}

// The fields of an embedded struct stand in the struct around it.
func defineFields(t reflect.Type, defined map[reflect.Type]bool) {
	for i := range t.NumField() {
		if field := t.Field(i); isInline(field) {
			defineFields(field.Type, defined)
		} else {
			define(field.Type, defined)
		}
	}
}

func isInline(field reflect.StructField) bool {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name == "" && (field.Anonymous || options == "inline")
}

// The fields of both versions of a schema are the same.
func known(t reflect.Type) reflect.Type {
	if t == betaSchema {
		return schema
	}
	return t
}

func fieldsOf(t reflect.Type) string {
	var fields []string
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case isInline(field):
			fields = append(fields, fieldsOf(field.Type))
		default:
			fields = append(fields, fmt.Sprintf("'%s': %s", name, shapeOf(field.Type)))
		}
	}
	return strings.Join(fields, ", ")
}

func shapeOf(t reflect.Type) string {
	t = known(t)
	if reader := readers[t]; reader != "" {
		return reader
	}
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.String:
		if t.PkgPath() != "" {
			return fmt.Sprintf("textOf('%s')", t)
		}
		return "text"
	case reflect.Bool:
		return "bool"
	case reflect.Int32:
		return "int32"
	case reflect.Int64:
		return "int64"
	case reflect.Float64:
		return "float"
	case reflect.Map:
		return "mapOf(" + shapeOf(t.Elem()) + ")"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "listOf(" + shapeOf(t.Elem()) + ")"
	case reflect.Struct:
		return constantOf(t)
	}
	log.Fatalf("%s: no shape for %s", t, t.Kind())
	return ""
}

var word = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

func constantOf(t reflect.Type) string {
	if constants[t] == "" {
		name := t.Name()
		if strings.HasSuffix(t.PkgPath(), "v1beta1") {
			name += "V1Beta1"
		}
		constant := strings.ToUpper(strings.Join(word.FindAllString(name, -1), "_"))
		if taken[constant] != nil {
			log.Fatalf("%s is %s and %s", constant, taken[constant].PkgPath(), t.PkgPath())
		}
		taken[constant], constants[t] = t, constant
	}
	return constants[t]
}

func header() string {
	required, err := os.ReadFile("go.mod")
	if err != nil {
		log.Fatal(err)
	}
	version := regexp.MustCompile(`k8s\.io/api (\S+)`).FindStringSubmatch(string(required))[1]
	return `// Generated from Kubernetes ` + version + ` by scripts/kubernetes-types (npm run kubernetes-types); do not edit.

/** Kubernetes' own types as shapes, as far as manifests of bundles are decoded into them. */
import {
  exact,
  intOrString,
  quantity,
  schemaOrArray,
  schemaOrBool,
  textOf,
  time,
} from './kubernetes-readers.ts';
import {
  any,
  bool,
  bytes,
  float,
  int32,
  int64,
  listOf,
  mapOf,
  type Shape,
  type StructShape,
  struct,
  text,
} from './shape.ts';
`
}
