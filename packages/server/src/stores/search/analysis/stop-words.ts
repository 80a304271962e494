/*
 * Frequent words that say little about the subject of a text, as the index folds them. They are the lists of the Snowball
 * project (snowballstem.org, licence BSD-3-Clause, copyright 2001 Martin Porter, 2002 Richard Boulton) without their
 * comments, and further question words.
 */
export const stopWordLists = {
  en: `
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves what which who whom this that these those am is are was were be
    been being have has had having do does did doing would should could ought cannot a an the and but if or because
    as until while of at by for with about against between into through during before after above below to from up
    down in out on off over under again further then once here there when where why how all any both each few more
    most other some such no nor not only own same so than too very whose many much can may might must shall will`,
  de: `
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes anderm andern
    anderr anders auch auf aus bei bin bis bist da damit dann der den des dem die das dass derselbe derselben
    denselben desselben demselben dieselbe dieselben dasselbe dazu dein deine deinem deinen deiner deines denn derer
    dessen dich dir du dies diese diesem diesen dieser dieses doch dort durch ein eine einem einen einer eines einig
    einige einigem einigen einiger einiges einmal er ihn ihm es etwas euer eure eurem euren eurer eures fur gegen
    gewesen hab habe haben hat hatte hatten hier hin hinter ich mich mir ihr ihre ihrem ihren ihrer ihres euch im in
    indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann kein keine keinem keinen
    keiner keines konnen konnte machen man manche manchem manchen mancher manches mein meine meinem meinen meiner
    meines mit muss musste nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seines
    selbst sich sie ihnen sind so solche solchem solchen solcher solches soll sollte sondern sonst uber um und uns
    unse unsem unsen unser unses unter viel vom von vor wahrend war waren warst was weg weil weiter welche welchem
    welchen welcher welches wenn werde werden wie wieder will wir wird wirst wo wollen wollte wurde wurden zu zum
    zur zwar zwischen wer wem wen woher wohin womit wodurch woran worauf wann warum wieso wozu wieviel`,
  fr: `
    au aux avec ce ces dans de des du elle en et eux il je la le leur lui ma mais me meme mes moi mon ne nos notre
    nous on ou par pas pour qu que qui sa se ses sur ta te tes toi ton tu un une vos votre vous c d j l a m n s t y
    etee etees etant suis es etes sont serai seras sera serons serez seront serais serait serions seriez seraient
    etais etait etions etiez etaient fus fut fumes futes furent sois soit soyons soyez soient fusse fusses fussions
    fussiez fussent ayant eu eue eues eus ai avons avez ont aurai aurons aurez auront aurais aurait aurions auriez
    auraient avais avait aviez avaient eut eumes eutes eurent aie aies ait ayons ayez aient eusse eusses eussions
    eussiez eussent ceci cela cet cette ici ils les leurs quel quels quelle quelles sans soi quoi quand comment
    combien pourquoi lequel laquelle est peut faut`,
  es: `
    de la que el en y a los del se las por un para con no una su al lo como mas pero sus le ya o este si porque esta
    entre cuando muy sin sobre tambien me hasta hay donde quien desde todo nos durante todos uno les ni contra otros
    ese eso ante ellos e esto mi antes algunos unos yo otro otras otra tanto esa estos mucho quienes nada muchos
    cual poco ella estar estas algunas algo nosotros mis tu te ti tus ellas nosotras vosotros vosotras os mio mia
    mios mias tuyo tuya tuyos tuyas suyo suya suyos suyas nuestro nuestra nuestros nuestras vuestro vuestra vuestros
    vuestras esos esas estoy estamos estais estan estes estemos esteis esten estare estaras estara estaremos
    estareis estaran estaria estarias estariamos estariais estarian estaba estabas estabamos estabais estaban estuve
    estuviste estuvo estuvimos estuvisteis estuvieron estuviera estuvieras estuvieramos estuvierais estuvieran
    estuviese estuvieses estuviesemos estuvieseis estuviesen estando estado estada estados estadas estad he has ha
    hemos habeis han haya hayas hayamos hayais hayan habre habras habra habremos habreis habran habria habrias
    habriamos habriais habrian habia habias habiamos habiais habian hube hubiste hubo hubimos hubisteis hubieron
    hubiera hubieras hubieramos hubierais hubieran hubiese hubieses hubiesemos hubieseis hubiesen habiendo habido
    habida habidos habidas soy eres es somos sois son sea seas seamos seais sean sere seras sera seremos sereis
    seran seria serias seriamos seriais serian era eras eramos erais eran fui fuiste fue fuimos fuisteis fueron
    fuera fueras fueramos fuerais fueran fuese fueses fuesemos fueseis fuesen siendo sido tengo tienes tiene tenemos
    teneis tienen tenga tengas tengamos tengais tengan tendre tendras tendra tendremos tendreis tendran tendria
    tendrias tendriamos tendriais tendrian tenia tenias teniamos teniais tenian tuve tuviste tuvo tuvimos tuvisteis
    tuvieron tuviera tuvieras tuvieramos tuvierais tuvieran tuviese tuvieses tuviesemos tuvieseis tuviesen teniendo
    tenido tenida tenidos tenidas tened cuales cuanto cuanta cuantos cuantas adonde puede debe`,
  it: `
    ad al allo ai agli all agl alla alle con col coi da dal dallo dai dagli dall dagl dalla dalle di del dello dei
    degli dell degl della delle in nel nello nei negli nell negl nella nelle su sul sullo sui sugli sull sugl sulla
    sulle per tra contro io tu lui lei noi voi loro mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra
    nostri nostre vostro vostra vostri vostre mi ti ci vi lo la li le gli ne il un uno una ma ed se perche anche
    come dov dove che chi cui non piu quale quanto quanti quanta quante quello quelli quella quelle questo questi
    questa queste si tutto tutti a c e i l o ho hai ha abbiamo avete hanno abbia abbiate abbiano avro avrai avra
    avremo avrete avranno avrei avresti avrebbe avremmo avreste avrebbero avevo avevi aveva avevamo avevate avevano
    ebbi avesti ebbe avemmo aveste ebbero avessi avesse avessimo avessero avendo avuto avuta avuti avute sono sei
    siamo siete sia siate siano saro sarai sara saremo sarete saranno sarei saresti sarebbe saremmo sareste
    sarebbero ero eri era eravamo eravate erano fui fosti fu fummo foste furono fossi fosse fossimo fossero essendo
    faccio fai facciamo fanno faccia facciate facciano faro farai fara faremo farete faranno farei faresti farebbe
    faremmo fareste farebbero facevo facevi faceva facevamo facevate facevano feci facesti fece facemmo faceste
    fecero facessi facesse facessimo facessero facendo sto stai sta stiamo stanno stia stiate stiano staro starai
    stara staremo starete staranno starei staresti starebbe staremmo stareste starebbero stavo stavi stava stavamo
    stavate stavano stetti stesti stette stemmo steste stettero stessi stesse stessimo stessero stando quali cosa
    quando`,
  pt: `
    de a o que e do da em um para com nao uma os no se na por mais as dos como mas ao ele das seu sua ou quando
    muito nos ja eu tambem so pelo pela ate isso ela entre depois sem mesmo aos seus quem nas me esse eles voce essa
    num nem suas meu minha numa pelos elas qual lhe deles essas esses pelas este dele tu te voces vos lhes meus
    minhas teu tua teus tuas nosso nossa nossos nossas dela delas esta estes estas aquele aquela aqueles aquelas
    isto aquilo estou estamos estao estive esteve estivemos estiveram estava estavamos estavam estivera estiveramos
    esteja estejamos estejam estivesse estivessemos estivessem estiver estivermos estiverem hei ha havemos hao houve
    houvemos houveram houvera houveramos haja hajamos hajam houvesse houvessemos houvessem houver houvermos houverem
    houverei houveremos houverao houveria houveriamos houveriam sou somos sao era eramos eram fui foi fomos foram
    fora foramos seja sejamos sejam fosse fossemos fossem for formos forem serei sera seremos serao seria seriamos
    seriam tenho tem temos tinha tinhamos tinham tive teve tivemos tiveram tivera tiveramos tenha tenhamos tenham
    tivesse tivessemos tivessem tiver tivermos tiverem terei tera teremos terao teria teriamos teriam quais quanto
    quanta quantos quantas onde porque`,
  nl: `
    de en van ik te dat die in een hij het niet zijn is was op aan met als voor had er maar om hem dan zou of wat
    mijn men dit zo door over ze zich bij ook tot je mij uit der daar haar naar heb hoe heeft hebben deze u want nog
    zal me zij nu ge geen omdat iets worden toch al waren veel meer doen toen moet ben zonder kan hun dus alles
    onder ja eens hier wie werd altijd doch wordt wezen kunnen ons zelf tegen na reeds wil kon niets uw iemand
    geweest andere welke wanneer waar waarom hoeveel`,
  sv: `
    och det att i en jag hon som han pa den med var sig for sa till ar men ett om hade de av icke mig du henne da
    sin nu har inte hans honom skulle hennes dar min man ej vid kunde nagot fran ut nar efter upp vi dem vara vad
    over an dig kan sina ha mot alla under nagon eller allt mycket sedan ju denna sjalv detta at utan varit hur
    ingen mitt ni bli blev oss din dessa nagra deras blir mina samma vilken er sadan blivit dess inom mellan sadant
    varfor varje vilka ditt vem vilket sitt sadana vart dina vars ert era vilkas`,
  da: `
    og i jeg det at en den til er som pa de med han af for ikke der var mig sig men et har om vi min havde ham hun
    nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her alle vil blev kunne ind nar være dog
    noget ville jo deres efter ned skulle denne end dette mit ogsa under have dig anden hende mine alt meget sit
    sine vor mod disse hvis din nogle hos blive mange ad bliver hendes været thi jer sadan hvilken hvilket hvilke
    hvem hvornar hvordan hvorfor kan`,
  no: `
    og i jeg det at en et den til er som pa de med han av ikke ikkje der sa var meg seg men ett har om vi min mitt
    ha hadde hun na over da ved fra du ut sin dem oss opp man kan hans hvor eller hva skal selv sjøl her alle vil
    bli ble blei blitt kunne inn nar være kom noen noe ville dere deres kun ja etter ned skulle denne for deg si
    sine sitt mot a meget hvorfor dette disse uten hvordan ingen din ditt blir samme hvilken hvilke sann inni mellom
    hver hvem vors hvis bade bare enn fordi før mange ogsa slik vært bae begge siden dykk dykkar dei deira deires
    deim di eg ein eit eitt elles honom hja ho hoe henne hennar hennes hoss hossen ingi inkje korleis korso kva kvar
    kvarhelst kven kvi kvifor me medan mi mine mykje no nokon noka nokor noko nokre sia sidan so somt somme um upp
    vere vore verte vort varte vart hvilket`,
  fi: `
    olla olen olet on olemme olette ovat ole oli olisi olisit olisin olisimme olisitte olisivat olit olin olimme
    olitte olivat ollut olleet en et ei emme ette eivat mina minun minut minua minussa minusta minuun minulla
    minulta minulle sina sinun sinut sinua sinussa sinusta sinuun sinulla sinulta sinulle han hanen hanet hanta
    hanessa hanesta haneen hanella hanelta hanelle me meidan meidat meita meissa meista meihin meilla meilta meille
    te teidan teidat teita teissa teista teihin teilla teilta teille he heidan heidat heita heissa heista heihin
    heilla heilta heille tama taman tata tassa tasta tahan talla talta talle tana taksi tuo tuon tuota tuossa tuosta
    tuohon tuolla tuolta tuolle tuona tuoksi se sen sita siina siita siihen silla silta sille siksi nama naiden
    naita naissa naista naihin nailla nailta naille naina naiksi nuo noiden noita noissa noista noihin noilla noilta
    noille noina noiksi ne niiden niita niissa niista niihin niilla niilta niille niina niiksi kuka kenen kenet keta
    kenessa kenesta keneen kenella kenelta kenelle kenena keneksi ketka keiden keita keissa keista keihin keilla
    keilta keille keina keiksi mika minka mita missa mista mihin milla milta mille miksi mitka joka jonka jota jossa
    josta johon jolla jolta jolle jona joksi jotka joiden joita joissa joista joihin joilla joilta joille joina
    joiksi etta ja jos joten koska kuin mutta niin seka tai vaan vai vaikka kanssa mukaan noin poikki yli kun nyt
    itse milloin miten kuinka`,
  ru: `
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня
    еще нет о из ему теперь когда даже ну вдруг ли если уже или ни быть был него до вас нибудь опять уж вам сказал
    ведь там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто человек
    чего раз тоже себе под жизнь будет ж тогда кто этот говорил того потому этого какой совсем ним здесь этом один
    почти мой тем чтобы нее кажется сейчас были куда зачем сказать всех никогда сегодня можно при наконец два об
    другой хоть после над больше тот через эти нас про всего них какая много разве сказала три эту моя впрочем
    хорошо свою этой перед иногда лучше чуть том нельзя такой им более всегда конечно всю между какое какие каким
    какую каких сколько почему`,
} as const;
